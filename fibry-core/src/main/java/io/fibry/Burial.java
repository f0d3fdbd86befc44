package io.fibry;

/** The end of an actor, as the thread that met its pill sees it; and as a killer does, whose patience is over. */
final class Burial {
  private Burial() {}

  /** What was put aside, the hooks, the end. */
  static void run(Activation last) {
    var cell = last.cell;
    var extras = cell.rich();
    if (last.own) Thread.interrupted(); // meant for the handler
    extras.leavingOn(last);
    try {
      for (var put : extras.aside) buryAside(last, put);
      extras.aside.clear();
      cell.behaviour.stop(cell);
    } catch (Throwable failure) {
      Scope.LOG.error("the stop hook of actor '{}' failed", cell.name(), failure);
    } finally {
      cell.state = null;
      try {
        extras.end();
      } finally { // or its scope would remember it for ever
        cell.scope().forget(cell);
        extras.leaver = null;
      }
    }
  }

  private static void buryAside(Activation last, Object put) {
    if (put instanceof Envelope envelope) last.undelivered(envelope.message, null);
    else {
      Object given = ((Asked<?>) put).begin();
      if (given != null) last.undelivered(given, (Asked<?>) put);
    }
  }

  /** Tells who waits for a handler that ignores its end, and who waits behind it. Completing is idempotent, so it may race with the drain. */
  static void failRequests(Activation worker) {
    var current = worker.asked;
    if (current != null) current.cutOff(worker.message);
    var chosen = worker.received;
    if (chosen != null) for (var one : chosen) one.asked().cutOff(one.message());
    failBehind(worker);
  }

  /** The same for all that the handler has not taken, and will not. */
  static void failBehind(Activation worker) {
    for (var put : worker.cell.rich().aside) if (put instanceof Asked<?> request) PlainQueue.cutOff(request);
    worker.cell.failWaiting(worker.at());
  }
}
