package io.fibry;

import io.fibry.ActorScope.Carrier;

/**
 * What a message takes along: what the carriers of its actor captured on the sender's thread. Most messages take nothing, and have null in its place.
 *
 * <p>Carriers are code of the user, so they are never called inside the queue: what is captured is captured before the message is offered, what is set is set after the message was taken. What they throw is logged, and the
 * message is handled all the same.
 */
final class Along {
  private final Object[] captured; // in the order of the carriers; an element is null where there was nothing to capture

  private Along(Object[] captured) {
    this.captured = captured;
  }

  /** What a message to this actor takes along from this thread. Null: nothing. */
  static Along of(ActorCell cell) {
    var carriers = cell.behaviour.how().carriers();
    return carriers == null ? null : new Along(captured(cell, carriers));
  }

  private static Object[] captured(ActorCell cell, Carrier<?>[] carriers) {
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

  /** As many places as there may be things to close. */
  AutoCloseable[] places() {
    return new AutoCloseable[captured.length];
  }

  /** Sets what was captured on this thread. What is to be closed is put into the places one by one: should this come to grief, it is closed all the same. */
  void set(ActorCell cell, AutoCloseable[] places) {
    var carriers = cell.behaviour.how().carriers();
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
  static void close(ActorCell cell, AutoCloseable[] places) {
    for (int i = places.length - 1; i >= 0; i--) {
      try {
        if (places[i] != null) places[i].close();
      } catch (Throwable failure) {
        complain("take back", cell.behaviour.how().carriers()[i], cell, failure);
      }
    }
  }

  private static void complain(String verb, Carrier<?> carrier, ActorCell cell, Throwable failure) {
    Scope.LOG.error("carrier {} could not {} what a message to actor '{}' takes along", RequestException.shown(carrier), verb, cell.name(), failure);
  }
}
