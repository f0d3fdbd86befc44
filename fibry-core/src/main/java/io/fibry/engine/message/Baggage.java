package io.fibry.engine.message;

import io.fibry.ActorScope.Carrier;
import io.fibry.RequestException;
import io.fibry.engine.actor.ActorCell;
import io.fibry.engine.scope.Scope;

/**
 * What a message takes along: what the carriers of its actor captured on the sender's thread, and
 * when it was sent, if messages are recorded. Most messages take nothing, and have null in its
 * place.
 *
 * <p>Carriers are code of the user, so they are never called inside the queue: what is captured is
 * captured before the message is offered, what is set is set after the message was taken. What they
 * throw is logged, and the message is handled all the same.
 */
public final class Baggage {
  /**
   * Whether any actor has carriers: one look at a hot word, instead of three at each actor. Written
   * before the first such actor is made, so seen by whoever knows one.
   */
  public static boolean used;

  // in the order of the carriers, null where there are none; an element is null where there was
  // nothing to capture
  private final Object[] captured;
  private final long sent; // when, by System.nanoTime; 0: nobody records messages

  private Baggage(Object[] captured) {
    this.captured = captured;
    this.sent = Events.messages() ? System.nanoTime() : 0;
  }

  /** What a message to this actor takes along from this thread. Null: nothing. */
  public static Baggage of(ActorCell cell) {
    return used || Events.messages() ? of(captured(cell)) : null;
  }

  /** The same, of what was captured before. */
  public static Baggage of(Object[] captured) {
    return captured == null && !Events.messages() ? null : new Baggage(captured);
  }

  /** What news take along that nobody sends: when it came. */
  public static Baggage stamp() {
    return of((Object[]) null);
  }

  /** What the carriers of this actor find on this thread. Null: it has none. */
  public static Object[] captured(ActorCell cell) {
    var carriers = cell.behaviour.how.carriers();
    if (carriers == null) return null;
    var captured = new Object[carriers.length];
    for (int i = 0; i < captured.length; i++) {
      try {
        captured[i] = carriers[i].capture();
      } catch (Throwable failure) {
        complain("capture", carriers[i], cell, failure);
      }
    }
    return captured;
  }

  /** How long ago it was sent. */
  public long waited() {
    return sent == 0 ? Events.UNKNOWN : System.nanoTime() - sent;
  }

  /** As many places as there may be things to close. Null: none. */
  public AutoCloseable[] places() {
    return captured == null ? null : new AutoCloseable[captured.length];
  }

  /**
   * Sets what was captured on this thread. What is to be closed is put into the places one by one:
   * should this come to grief, it is closed all the same.
   */
  public void set(ActorCell cell, AutoCloseable[] places) {
    var carriers = cell.behaviour.how.carriers();
    for (int i = 0; i < places.length; i++) {
      try {
        if (captured[i] != null) places[i] = set(carriers[i], captured[i]);
      } catch (Throwable failure) {
        complain("set", carriers[i], cell, failure);
      }
    }
  }

  @SuppressWarnings("unchecked") // it is what this very carrier captured
  private static <C> AutoCloseable set(Carrier<C> carrier, Object captured) {
    return carrier.set((C) captured);
  }

  /** Closes what stands in the places, the last first. */
  public static void close(ActorCell cell, AutoCloseable[] places) {
    for (int i = places.length - 1; i >= 0; i--) {
      try {
        if (places[i] != null) places[i].close();
      } catch (Throwable failure) {
        complain("take back", cell.behaviour.how.carriers()[i], cell, failure);
      }
    }
  }

  private static void complain(String verb, Carrier<?> carrier, ActorCell cell, Throwable failure) {
    Scope.LOG.error("carrier {} could not {} what a message to actor '{}' takes along", RequestException.shown(carrier),
        verb, cell.name(), failure);
  }
}
