package io.fibry.engine.message;

import io.fibry.Actor;
import io.fibry.ContextPropagator;
import io.fibry.ContextPropagator.Handling;
import io.fibry.engine.jvm.AskChainLocals;
import io.fibry.engine.jvm.EngineLog;
import io.fibry.engine.jvm.MessageTexts;
import java.util.List;

/**
 * The context that travels with a message: the captures of the actor's context propagators, and the
 * askers in other processes that wait for the answer. While a flight recording records messages,
 * the Baggage also has the time of sending. Most messages have no baggage; their reference to a
 * Baggage is null.
 *
 * <p>Context propagators are user code. So they run outside of the mailbox: they capture before the
 * message is offered, and restore after the message was taken. If a propagator throws, the
 * exception is logged, and the message is still handled.
 */
public final class Baggage {
  /**
   * Whether any actor has context propagators. Written before the first such actor is made, so the
   * senders of that actor see it.
   */
  public static boolean hadPropagators;

  private final Object[] captures; // one capture for each propagator; a capture may be null. Null without propagators
  public final List<String> askers;
  // System.nanoTime of the sending; 0 if messages are not recorded
  private final long sentAt = JfrEvents.isRecordingMessages() ? System.nanoTime() : 0;

  private Baggage(Object[] captures, List<String> askers) {
    this.captures = captures;
    this.askers = askers;
  }

  /**
   * Returns whether messages may need baggage: propagators or remote askers exist, or messages are
   * recorded.
   */
  public static boolean isUsed() {
    return hadPropagators || AskChainLocals.everUsed || JfrEvents.isRecordingMessages();
  }

  public static Baggage of(Object[] captured, boolean isToPool) {
    var askers = AskChainLocals.sentAskers();
    return of(captured, isToPool ? withoutLast(askers) : askers);
  }

  /** Returns all askers except the last asker, which is the pool itself. */
  private static List<String> withoutLast(List<String> askers) {
    return askers.subList(0, Math.max(0, askers.size() - 1));
  }

  /** Captures the context of a request whose asker waits on this thread. */
  public static Baggage ofAsk(Object[] captured) {
    return of(captured, AskChainLocals.handledAskers());
  }

  /** Returns the baggage of a request without context. The last asker is the actor itself. */
  public static Baggage ofAskers(List<String> askers, boolean isToPool) {
    var remaining = isToPool ? withoutLast(askers) : askers;
    if (!remaining.isEmpty()) AskChainLocals.markUsed();
    return of(null, remaining);
  }

  public static Baggage of(Object[] captured) {
    return of(captured, List.of());
  }

  private static Baggage of(Object[] captured, List<String> askers) {
    return captured == null && askers.isEmpty() && !JfrEvents.isRecordingMessages() ? null
        : new Baggage(captured, askers);
  }

  public static Object[] captureContext(List<ContextPropagator<?>> propagators, Actor<?> receiver, Object message) {
    if (propagators.isEmpty()) return null;
    var captured = new Object[propagators.size()];
    for (int i = 0; i < captured.length; i++) {
      try {
        captured[i] = propagators.get(i).capture(receiver, message);
      } catch (Throwable failure) {
        logFailure("capture", propagators.get(i), receiver, failure);
      }
    }
    return captured;
  }

  public long waitedNanos() {
    return sentAt == 0 ? JfrEvents.UNKNOWN : System.nanoTime() - sentAt;
  }

  /**
   * Returns an array for the resources that {@link #restore} opens, or null if there is no context
   * to restore.
   */
  public AutoCloseable[] newCloseables() {
    return captures == null ? null : new AutoCloseable[captures.length];
  }

  /**
   * Restores the captured context on this thread, for a handler or for a send, and puts the opened
   * resources into {@code toClose}. The caller must close these resources even if this method
   * throws.
   */
  @SuppressWarnings("unchecked") // each propagator gets its own capture
  public void restore(List<ContextPropagator<?>> propagators, Actor<?> receiver, Object message,
      AutoCloseable[] toClose, boolean isForSend) {
    for (int i = 0; i < toClose.length; i++) {
      try {
        if (captures[i] == null) continue;
        var propagator = (ContextPropagator<Object>) propagators.get(i);
        toClose[i] = isForSend ? propagator.restoreForSend(captures[i], receiver, message)
            : propagator.restore(captures[i], receiver, message);
      } catch (Throwable failure) {
        logFailure("restore", propagators.get(i), receiver, failure);
      }
    }
  }

  /** Notifies the propagators that return a {@link Handling} of the handler's failure. */
  public static void fail(List<ContextPropagator<?>> propagators, Actor<?> receiver, AutoCloseable[] restored,
      Throwable handlerFailure) {
    for (int i = restored.length - 1; i >= 0; i--) {
      try {
        if (restored[i] instanceof Handling handling) handling.failed(handlerFailure);
      } catch (Throwable failure) {
        logFailure("note the failure in", propagators.get(i), receiver, failure);
      }
    }
  }

  public static void close(List<ContextPropagator<?>> propagators, Actor<?> receiver, AutoCloseable[] toClose) {
    for (int i = toClose.length - 1; i >= 0; i--) {
      try {
        if (toClose[i] != null) toClose[i].close();
      } catch (Throwable failure) {
        logFailure("close", propagators.get(i), receiver, failure);
      }
    }
  }

  static void logFailure(String verb, ContextPropagator<?> propagator, Actor<?> actor, Throwable failure) {
    EngineLog.log().error("context propagator {} could not {} the context of a message to actor '{}'",
        MessageTexts.describe(propagator),
        verb,
        actor.name(), failure);
  }
}
