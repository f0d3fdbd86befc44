package io.fibry.engine.cell;

import io.fibry.engine.message.Baggage;
import io.fibry.engine.message.Events;
import io.fibry.engine.message.RequestFuture;

/**
 * What surrounds the handling of a message: what it takes along is set, and the recorder looks on.
 * The making of the state, the code around the handler and the log line of a failure are inside.
 * Most messages have none.
 */
public final class Surroundings {
  private Surroundings() {}

  public static void deliver(Activation turn, Object given, RequestFuture<?> request, Baggage along) {
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
      if (places != null) Baggage.close(turn.cell, places);
      if (turn.own) Thread.interrupted(); // meant for this message, not for the next
    }
  }

  private static void set(Activation turn, Baggage along, AutoCloseable[] places) {
    try {
      along.set(turn.cell, places);
    } catch (Throwable edge) { // of the stack: it could not even complain
      // the message is handled all the same
    }
  }
}
