package io.fibry;

import io.fibry.ActorScope.Report;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/**
 * The close of one scope. Whoever closes first does it, on his own thread; who comes later waits for his report. Members end one after the other, the last made first, as nested resources would: whom an actor was
 * given when it was made is there until it has ended. When the time is over, all that is left is interrupted at once, and what ignores that past its grace is cut off: so a close always ends.
 *
 * <p>An actor whose handler closes its own scope, or one around it, cannot wait for itself: it is asked to exit after this message, and is not waited for.
 */
final class Closing {
  private final Scope scope;
  private final CompletableFuture<Report> report = new CompletableFuture<>();
  private final List<Closing> below = new ArrayList<>(); // of the scopes inside, where this close is the first; closer only
  private List<ActorCell> own = List.of(); // actors in whose handlers this thread is; closer only
  private boolean interrupted; // closer only

  Closing(Scope scope) {
    this.scope = scope;
  }

  boolean isOver() {
    return report.isDone();
  }

  /** Waits for the report of the first; from a handler in the scope that would be a wait for itself. */
  Report join() {
    if (!current().isEmpty()) return scope.report();
    try {
      return report.get();
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw interrupted();
    } catch (ExecutionException impossible) {
      throw new AssertionError(impossible);
    }
  }

  Report run(Limit limit) {
    own = current();
    scope.accounts().collectLeftovers();
    shutBelow(scope);
    try {
      own.forEach(Closing::endOwn);
      drain(scope, limit);
      interruptRest();
    } finally {
      below.reversed().forEach(Closing::finish);
      finish();
      if (interrupted) Thread.currentThread().interrupt();
    }
    if (interrupted) throw interrupted();
    return report.join();
  }

  private void finish() {
    report.complete(scope.report(scope.accounts().leftovers()));
    scope.accounts().stopCollecting();
    scope.leaveIfEmpty();
  }

  private List<ActorCell> current() {
    return Scope.cells(scope).stream().filter(ActorCell::isCurrent).toList();
  }

  /** It ends when its handler returns; who waits in its mailbox is told now, since members may, and could not end before. */
  private static void endOwn(ActorCell cell) {
    cell.rich().because(new ExitReason.Stopped());
    cell.shutDoor();
    var worker = cell.run();
    if (worker != null) Burial.failBehind(worker);
  }

  /** All doors at once; what was closing before is somebody else's. */
  private void shutBelow(Scope from) {
    for (var member : from.members()) {
      if (!(member instanceof Scope inner)) continue;
      var close = new Closing(inner);
      if (inner.shut(close) != close) continue;
      below.add(close);
      inner.accounts().collectLeftovers();
      shutBelow(inner);
    }
  }

  /** The last made first, one after the other. */
  private void drain(Scope from, Limit limit) {
    for (var member : from.members().reversed()) {
      if (interrupted || limit.getAsBoolean()) return;
      if (member instanceof Scope inner) drainBelow(inner, limit);
      else if (!own.contains(member)) drain((ActorCell) member, limit);
    }
  }

  private void drainBelow(Scope inner, Limit limit) {
    var close = inner.closing();
    if (below.contains(close)) drain(inner, limit);
    else await(close.report, limit);
  }

  private void drain(ActorCell cell, Limit limit) {
    cell.rich().because(new ExitReason.Stopped());
    cell.sendPoisonPill();
    await(cell.onExit(), limit);
  }

  private void interruptRest() {
    var rest = new ArrayList<>(Scope.cells(scope));
    rest.removeAll(own);
    for (var cell : rest.reversed()) if (!cell.onExit().isDone()) Dispatch.kill(cell, new ExitReason.Stopped());
    for (var cell : rest.reversed()) while (!await(cell.onExit(), Limit.NONE)) interrupted = true; // its grace ends it
  }

  private boolean await(CompletableFuture<?> end, Limit limit) {
    try {
      return limit.await(end);
    } catch (InterruptedException interrupt) {
      interrupted = true;
      return end.isDone();
    }
  }

  private CancellationException interrupted() {
    return new CancellationException("interrupted while closing scope '" + scope.name() + "'; what was not done by then is interrupted");
  }

  static void checkInterrupt(String what) {
    if (Thread.currentThread().isInterrupted()) throw new CancellationException("interrupted while waiting " + what);
  }
}
