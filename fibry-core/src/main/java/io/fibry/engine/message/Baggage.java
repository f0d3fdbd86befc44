package io.fibry.engine.message;

import io.fibry.Actor;
import io.fibry.ContextPropagator;
import io.fibry.engine.jvm.AskChainLocals;
import io.fibry.engine.jvm.EngineLog;
import io.fibry.engine.jvm.MessageTexts;
import java.util.List;

/**
 * The context that travels with a message. It holds the captures of the actor's carriers, the
 * askers in other processes that wait for it, and, while messages are recorded, the time of
 * sending. It is null for most messages.
 *
 * <p>Carriers are user code, so they capture before the offer, and are set after the message was
 * taken. An exception of a carrier is logged, and the message is still handled.
 */
public final class Baggage {
  /** Whether any actor has carriers. Written before the first such actor, so its senders see it. */
  public static boolean everUsed;

  private final Object[] captured; // one capture per carrier, which may be null; null without carriers
  public final List<String> askers;
  // 0 means that messages are not recorded.
  private final long sentAt = JfrEvents.isRecordingMessages() ? System.nanoTime() : 0;

  private Baggage(Object[] captured, List<String> askers) {
    this.captured = captured;
    this.askers = askers;
  }

  /** One look for a sender, as long as none has carriers and nothing is recorded. */
  public static boolean isUsed() {
    return everUsed || AskChainLocals.everUsed || JfrEvents.isRecordingMessages();
  }

  public static Baggage of(Object[] captured, boolean toPool) {
    var askers = AskChainLocals.sentAskers();
    return of(captured, toPool ? withoutLast(askers) : askers);
  }

  /** The last is the pool itself. */
  private static List<String> withoutLast(List<String> askers) {
    return askers.subList(0, Math.max(0, askers.size() - 1));
  }

  /** Captures the context of a request whose asker waits on this thread. */
  public static Baggage ofAsk(Object[] captured) {
    return of(captured, AskChainLocals.handledAskers());
  }

  public static Baggage of(Object[] captured) {
    return of(captured, List.of());
  }

  private static Baggage of(Object[] captured, List<String> askers) {
    return captured == null && askers.isEmpty() && !JfrEvents.isRecordingMessages() ? null
        : new Baggage(captured, askers);
  }

  public static Object[] captureContext(List<ContextPropagator<?>> propagators, Actor<?> to, Object message) {
    if (propagators.isEmpty()) return null;
    var captured = new Object[propagators.size()];
    for (int i = 0; i < captured.length; i++) {
      try {
        captured[i] = propagators.get(i).capture(to, message);
      } catch (Throwable failure) {
        logFailure("capture", propagators.get(i), to, failure);
      }
    }
    return captured;
  }

  public long waitedNanos() {
    return sentAt == 0 ? JfrEvents.UNKNOWN : System.nanoTime() - sentAt;
  }

  /** Room for what {@link #restore} makes. Returns null if no carrier will be set. */
  public AutoCloseable[] newCloseables() {
    return captured == null ? null : new AutoCloseable[captured.length];
  }

  /**
   * Sets what was captured on this thread. The resources in {@code toClose} are closed even if this
   * method fails.
   */
  @SuppressWarnings("unchecked") // each carrier gets what it captured
  public void restore(List<ContextPropagator<?>> propagators, Actor<?> at, Object message, AutoCloseable[] toClose) {
    for (int i = 0; i < toClose.length; i++) {
      try {
        if (captured[i] != null)
          toClose[i] = ((ContextPropagator<Object>) propagators.get(i)).restore(captured[i], at, message);
      } catch (Throwable failure) {
        logFailure("set", propagators.get(i), at, failure);
      }
    }
  }

  public static void close(List<ContextPropagator<?>> propagators, Actor<?> at, AutoCloseable[] toClose) {
    for (int i = toClose.length - 1; i >= 0; i--) {
      try {
        if (toClose[i] != null) toClose[i].close();
      } catch (Throwable failure) {
        logFailure("take back", propagators.get(i), at, failure);
      }
    }
  }

  static void logFailure(String verb, ContextPropagator<?> propagator, Actor<?> actor, Throwable failure) {
    EngineLog.LOG.error("carrier {} could not {} what a message to actor '{}' takes along",
        MessageTexts.describe(propagator),
        verb,
        actor.name(), failure);
  }
}
