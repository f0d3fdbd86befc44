package io.fibry.net;

import io.fibry.Exitable;
import io.fibry.block.ChangedCopy;
import java.util.List;

/** Actors that end with a socket. Thread-safe. */
final class SocketDependents {
  private volatile List<Exitable> actors = List.of(); // replaced under the monitor

  synchronized void add(Exitable actor) {
    actors = ChangedCopy.append(actors, actor);
  }

  /** On another thread: their ends may run code of users, and this may be that of a check. */
  void end() {
    var all = actors;
    if (all.isEmpty() || all.stream().allMatch(actor -> actor.onExit().isDone())) return;
    Thread.ofVirtual().inheritInheritableThreadLocals(false).start(() -> all.forEach(Exitable::askExit));
  }
}
