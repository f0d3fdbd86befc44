package io.fibry;

/** What surrounds the handling of a message: the making of the state, the code around the handler and the log line of a failure are inside. Most messages have none. */
final class Surroundings {
  private Surroundings() {}

  /** Delivers with what the message takes along set. */
  static void deliver(Activation turn, Object given, Asked<?> request, Along along) {
    var places = along.places();
    turn.message = given; // while a carrier works, a killer must find who is to be told
    turn.asked = request;
    turn.along = along;
    try {
      try {
        along.set(turn.cell, places);
      } catch (Throwable edge) { // of the stack: it could not even complain
        // the message is handled all the same
      }
      turn.deliver(given, request);
    } finally {
      turn.along = null;
      Along.close(turn.cell, places);
      if (turn.own) Thread.interrupted(); // meant for this message, not for the next
    }
  }
}
