package io.fibry.net.socket;

import io.fibry.Exitable;
import io.fibry.block.ChangedCopy;
import java.util.List;

/** The actors that end when a socket is closed. Thread-safe. */
final class SocketDependents {
  private volatile List<Exitable> actors = List.of(); // replaced under the monitor

  synchronized void add(Exitable actor) {
    actors = ChangedCopy.append(actors, actor);
  }

  /**
   * Asks all actors to end, on another thread. The end of an actor may run users' code, and the
   * current thread may be the thread of the limit check.
   */
  void end() {
    var current = actors;
    if (current.isEmpty() || current.stream().allMatch(actor -> actor.onExit().isDone())) return;
    Thread.ofVirtual().inheritInheritableThreadLocals(false).start(() -> current.forEach(Exitable::askExit));
  }
}
