package io.fibry.engine.cell;

import io.fibry.DeadLetter.Reason;
import io.fibry.engine.actor.ActorCell;
import io.fibry.engine.message.Envelope;
import io.fibry.engine.message.RequestFuture;
import io.fibry.engine.scope.Scope;

/**
 * The end of an actor, as the thread that met its pill sees it; and as a killer does, whose
 * patience is over.
 */
public final class Termination {
  private Termination() {}

  /** What was put aside, the hooks, the end. */
  public static void run(Activation last) {
    var cell = last.cell;
    var extras = cell.rich();
    if (last.own) Thread.interrupted(); // meant for the handler
    extras.leavingOn(last);
    try {
      for (var put : extras.aside) bury(cell, put);
      extras.aside.clear();
      cell.behaviour.stop(cell);
    } catch (Throwable failure) {
      Scope.LOG.error("the stop hook of actor '{}' failed", cell.name(), failure);
    } finally {
      cell.state = null;
      try {
        extras.end();
      } finally { // or its scope would remember it for ever
        cell.gone();
        extras.leaver = null;
      }
    }
  }

  /** What a node still holds will not be handled any more. */
  public static void bury(ActorCell cell, Object node) {
    if (node instanceof Envelope envelope) {
      Object given = envelope.message;
      envelope.message = null;
      if (given != null && given != Envelope.Control.PILL) undelivered(cell, given, null);
    } else {
      var request = (RequestFuture<?>) node;
      Object given = request.begin();
      if (given != null) undelivered(cell, given, request);
      // it came to grief here before
      else if (request.open())
        request.fail(new IllegalStateException("actor '" + cell.name() + "' had no stack or memory left to answer"));
    }
  }

  public static void undelivered(ActorCell cell, Object given, RequestFuture<?> request) {
    if (request == null) cell.scope().deadLetter(cell, given, Reason.UNDELIVERED, null);
    else {
      cell.scope().countUnhandled(Reason.UNDELIVERED);
      request.fail(cell.front().stopped(given));
    }
  }

  /**
   * Tells who waits for a handler that ignores its end, and who waits behind it. Completing is
   * idempotent, so it may race with the drain.
   */
  public static void failRequests(Activation worker) {
    var current = worker.asked;
    if (current != null) current.cutOff(worker.message);
    var chosen = worker.received;
    if (chosen != null) for (var one : chosen) one.asked().cutOff(one.message());
    failBehind(worker);
  }

  /** The same for all that the handler has not taken, and will not. */
  public static void failBehind(Activation worker) {
    for (var put : worker.cell.rich().aside) if (put instanceof RequestFuture<?> request) PlainQueue.cutOff(request);
    worker.cell.failWaiting(worker.at());
  }
}
