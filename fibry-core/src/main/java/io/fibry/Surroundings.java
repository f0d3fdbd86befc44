package io.fibry;

/**
 * What surrounds the handling of a message: what it takes along is set, and the recorder looks on.
 * The making of the state, the code around the handler and the log line of a failure are inside.
 * Most messages have none.
 */
final class Surroundings {
  private Surroundings() {}

  static void deliver(Activation turn, Object given, Asked<?> request, Along along) {
    var places = along == null ? null : along.places();
    turn.message = given; // while a carrier works, a killer must find who is to be told
    turn.asked = request;
    turn.along = along;
    try {
      if (places != null) set(turn, along, places);
      Object event =
          Events.begin(turn.kind == Activation.Kind.INLINE ? 0 : along == null ? Events.UNKNOWN : along.waited());
      turn.deliver(given, request);
      if (event != null) Events.end(event, turn.cell, given);
    } finally {
      turn.along = null;
      if (places != null) Along.close(turn.cell, places);
      if (turn.own) Thread.interrupted(); // meant for this message, not for the next
    }
  }

  private static void set(Activation turn, Along along, AutoCloseable[] places) {
    try {
      along.set(turn.cell, places);
    } catch (Throwable edge) { // of the stack: it could not even complain
      // the message is handled all the same
    }
  }
}
