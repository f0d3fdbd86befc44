package io.fibry.engine.message;

import io.fibry.ActorScope.Carrier;
import io.fibry.engine.jvm.Log;
import java.util.List;

/**
 * What travels with a message: what the carriers of its actor captured on the sender's thread, and
 * when the message was sent, if messages are recorded. Most messages have none, and null in its
 * place.
 *
 * <p>Carriers are user code, so the queue never calls them: they capture before the message is
 * offered, and are set after it was taken. What they throw is logged, and the message is handled all
 * the same.
 */
public final class Baggage {
  /**
   * Whether any actor has carriers: one look here replaces three at each actor. Written before the
   * first such actor is made, so every thread that knows the actor sees it.
   */
  public static boolean used;

  private final Object[] captured; // one for each carrier, null: nothing; null: there are no carriers
  private final long sent; // System.nanoTime; 0: messages are not recorded

  private Baggage(Object[] captured) {
    this.captured = captured;
    this.sent = Events.messages() ? System.nanoTime() : 0;
  }

  /** Null: none. */
  public static Baggage of(List<Carrier<?>> carriers, Wait.Party actor) {
    return used || Events.messages() ? of(captured(carriers, actor)) : null;
  }

  /** From what was captured before. Null: none. */
  public static Baggage of(Object[] captured) {
    return captured == null && !Events.messages() ? null : new Baggage(captured);
  }

  /** For messages that no sender sends: only the time. Null: none. */
  public static Baggage stamp() {
    return of((Object[]) null);
  }

  /** Null: there are no carriers. */
  public static Object[] captured(List<Carrier<?>> carriers, Wait.Party actor) {
    if (carriers.isEmpty()) return null;
    var captured = new Object[carriers.size()];
    for (int i = 0; i < captured.length; i++) {
      try {
        captured[i] = carriers.get(i).capture();
      } catch (Throwable failure) {
        logFailure("capture", carriers.get(i), actor, failure);
      }
    }
    return captured;
  }

  /** Nanoseconds since the message was sent. */
  public long waited() {
    return sent == 0 ? Events.UNKNOWN : System.nanoTime() - sent;
  }

  /** Room for what must be closed after the message. Null: nothing will be. */
  public AutoCloseable[] room() {
    return captured == null ? null : new AutoCloseable[captured.length];
  }

  /**
   * Sets what was captured on this thread. What must be closed goes into {@code toClose} one by one,
   * so it is closed even if this method fails halfway.
   */
  public void set(List<Carrier<?>> carriers, Wait.Party actor, AutoCloseable[] toClose) {
    for (int i = 0; i < toClose.length; i++) {
      try {
        if (captured[i] != null) toClose[i] = set(carriers.get(i), captured[i]);
      } catch (Throwable failure) {
        logFailure("set", carriers.get(i), actor, failure);
      }
    }
  }

  @SuppressWarnings("unchecked") // this very carrier captured it
  private static <C> AutoCloseable set(Carrier<C> carrier, Object captured) {
    return carrier.set((C) captured);
  }

  /** Closes in reverse order. */
  public static void close(List<Carrier<?>> carriers, Wait.Party actor, AutoCloseable[] toClose) {
    for (int i = toClose.length - 1; i >= 0; i--) {
      try {
        if (toClose[i] != null) toClose[i].close();
      } catch (Throwable failure) {
        logFailure("take back", carriers.get(i), actor, failure);
      }
    }
  }

  private static void logFailure(String verb, Carrier<?> carrier, Wait.Party actor, Throwable failure) {
    Log.LOG.error("carrier {} could not {} what a message to actor '{}' takes along", Log.shown(carrier), verb,
        actor.name(), failure);
  }
}
