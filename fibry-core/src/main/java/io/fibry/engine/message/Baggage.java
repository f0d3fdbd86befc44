package io.fibry.engine.message;

import io.fibry.Actor;
import io.fibry.Carrier;
import io.fibry.engine.jvm.Behalf;
import io.fibry.engine.jvm.Log;
import io.fibry.engine.jvm.Texts;
import java.util.List;

/**
 * What travels with a message: what its actor's carriers captured on the sender's thread, who waits
 * for it in other processes, and, if messages are recorded, when it was sent. Null: nothing, as for
 * most messages.
 *
 * <p>Carriers are user code, so they capture before the offer, and are set after the message was
 * taken. What they throw is logged, and the message is still handled.
 */
public final class Baggage {
  /** Whether any actor has carriers. Written before the first such actor, so its senders see it. */
  public static boolean used;

  private final Object[] captured; // one for each carrier, or null; null: no carriers
  public final List<String> askers;
  private final long sent = Events.messages() ? System.nanoTime() : 0; // 0: not recorded

  private Baggage(Object[] captured, List<String> askers) {
    this.captured = captured;
    this.askers = askers;
  }

  /** One look for a sender, as long as none has carriers and nothing is recorded. */
  public static boolean isUsed() {
    return used || Behalf.used || Events.messages();
  }

  public static Baggage of(Object[] captured, boolean toPool) {
    var askers = Behalf.sent();
    return of(captured, toPool ? withoutLast(askers) : askers);
  }

  /** The last is the pool itself. */
  private static List<String> withoutLast(List<String> askers) {
    return askers.subList(0, Math.max(0, askers.size() - 1));
  }

  /** Of a request whose asker, on this thread, waits. */
  public static Baggage ofAsk(Object[] captured) {
    return of(captured, Behalf.handled());
  }

  public static Baggage of(Object[] captured) {
    return of(captured, List.of());
  }

  private static Baggage of(Object[] captured, List<String> askers) {
    return captured == null && askers.isEmpty() && !Events.messages() ? null : new Baggage(captured, askers);
  }

  public static Object[] captured(List<Carrier<?>> carriers, Actor<?> to, Object message) {
    if (carriers.isEmpty()) return null;
    var captured = new Object[carriers.size()];
    for (int i = 0; i < captured.length; i++) {
      try {
        captured[i] = carriers.get(i).capture(to, message);
      } catch (Throwable failure) {
        logFailure("capture", carriers.get(i), to, failure);
      }
    }
    return captured;
  }

  public long waited() {
    return sent == 0 ? Events.UNKNOWN : System.nanoTime() - sent;
  }

  /** Room for what {@link #set} makes. Null: nothing will be set. */
  public AutoCloseable[] room() {
    return captured == null ? null : new AutoCloseable[captured.length];
  }

  /**
   * Sets what was captured on this thread. What is in {@code toClose} is closed even if this fails.
   */
  @SuppressWarnings("unchecked") // each carrier gets what it captured
  public void set(List<Carrier<?>> carriers, Actor<?> at, Object message, AutoCloseable[] toClose) {
    for (int i = 0; i < toClose.length; i++) {
      try {
        if (captured[i] != null) toClose[i] = ((Carrier<Object>) carriers.get(i)).set(captured[i], at, message);
      } catch (Throwable failure) {
        logFailure("set", carriers.get(i), at, failure);
      }
    }
  }

  public static void close(List<Carrier<?>> carriers, Actor<?> at, AutoCloseable[] toClose) {
    for (int i = toClose.length - 1; i >= 0; i--) {
      try {
        if (toClose[i] != null) toClose[i].close();
      } catch (Throwable failure) {
        logFailure("take back", carriers.get(i), at, failure);
      }
    }
  }

  private static void logFailure(String verb, Carrier<?> carrier, Actor<?> actor, Throwable failure) {
    Log.LOG.error("carrier {} could not {} what a message to actor '{}' takes along", Texts.shown(carrier), verb,
        actor.name(), failure);
  }
}
