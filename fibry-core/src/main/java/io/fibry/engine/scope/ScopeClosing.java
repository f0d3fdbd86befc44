package io.fibry.engine.scope;

import io.fibry.ActorScope.Report;
import io.fibry.ExitReason;
import io.fibry.engine.cell.Cell;
import io.fibry.engine.cell.ExitFuture;
import io.fibry.engine.cell.Termination;
import io.fibry.engine.jvm.CallerRuns;
import io.fibry.engine.message.Deadline;
import io.fibry.engine.message.Ring;
import io.fibry.engine.message.Wait;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/**
 * The close of one scope. The first thread that closes does it; later ones wait for its report.
 * Members end one after the other, the last made first, as nested resources would: what an actor was
 * given when it was made is there until it has ended. When the limit is over, all the rest is
 * interrupted at once, and what ignores that beyond its grace is cut off. So a close always ends.
 *
 * <p>A handler that closes its own scope, or one around it, cannot wait for its own actor: that actor
 * is asked to exit after this message, and the close does not wait for it.
 */
final class ScopeClosing implements Members.Ending {
  /** One member that the closer waits for, and the next. */
  private record Step(Cell cell, CompletableFuture<Step> next) {
    Step(Cell cell) {
      this(cell, new CompletableFuture<>());
    }
  }

  private final Members scope;
  private final CompletableFuture<Report> report = new CompletableFuture<>();
  private final List<ScopeClosing> below = new ArrayList<>(); // of scopes that this one closes; closer only
  private final ScopeClosing outermost; // its closer does the work: this one's own, or that of a scope around
  private List<Cell> own = List.of(); // actors in whose handlers the closer is; written before its first step
  private boolean interrupted; // closer only
  private volatile Thread closer = Thread.currentThread(); // null: it is done
  private volatile Step step = new Step(null); // the last begun; written by the closer, read by waiting handlers

  ScopeClosing(Members scope) {
    this.scope = scope;
    this.outermost = this;
  }

  private ScopeClosing(Members below, ScopeClosing outermost) {
    this.scope = below;
    this.outermost = outermost;
  }

  /**
   * Waits for the report of the first close. A handler in the scope, or a hook on the closer's thread,
   * would wait for itself: it gets the report of this moment.
   */
  Report join() {
    if (closer == Thread.currentThread() || !current().isEmpty()) return scope.report(List.of());
    try {
      if (Wait.Waiter.current() != null) follow();
      return report.get();
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw interrupted();
    } catch (ExecutionException impossible) {
      throw new AssertionError(impossible);
    }
  }

  /** A handler that waits for the closer publishes what the closer waits for, so that rings are found. */
  private void follow() throws InterruptedException, ExecutionException {
    while (!report.isDone()) {
      var now = outermost.step;
      try (var wait = now.cell == null ? null : begin(now.cell)) {
        if (wait != null) outermost.breakRings(wait, now.cell);
        CompletableFuture.anyOf(report, now.next).get();
      }
    }
  }

  private static ExitFuture exit(Cell cell) {
    return cell.extras().exit;
  }

  private static Wait begin(Cell cell) {
    return Wait.begin(cell, Wait.CLOSE, exit(cell));
  }

  /** Closes the scope; the doors are shut. */
  Report run(Deadline deadline) {
    own = current();
    scope.accounts().collectLeftovers();
    try {
      own.forEach(ScopeClosing::endOwn);
      drain(scope, deadline);
      interruptRest();
    } finally {
      below.reversed().forEach(ScopeClosing::finish);
      finish();
    }
    return report.join();
  }

  /** For the closer, at last: its report, or that it was interrupted. */
  Report result() {
    if (!interrupted) return report.join();
    Thread.currentThread().interrupt();
    throw interrupted();
  }

  /** Called by the closer and by the last member that leaves. */
  @Override
  public void finish() {
    if (!report.isDone()) report.complete(scope.report(scope.accounts().leftovers()));
    scope.accounts().stopCollecting(); // also if the last member left before the closer began to collect
    if (closer == null) return;
    closer = null;
    scope.endIfEmpty();
  }

  private List<Cell> current() {
    return Members.cells(scope).stream().filter(Cell::isCurrent).toList();
  }

  /**
   * The actor ends when its handler returns. Requests in its mailbox fail now: members may wait for
   * them, and could not end before.
   */
  private static void endOwn(Cell cell) {
    cell.shutDoor(new ExitReason.Stopped());
    var drain = cell.worker();
    if (drain != null) Termination.stopBehind(drain);
  }

  /** The last made first, one after the other; but doors to the outside get their pill before. */
  private void drain(Members from, Deadline deadline) {
    for (var member : from.members())
      if (member instanceof Cell cell && cell.settings().endsFirst() && !own.contains(cell)) sendPill(cell);
    for (var member : from.members().reversed()) {
      if (interrupted || deadline.getAsBoolean()) return;
      if (member instanceof Members inner) drainBelow(inner, deadline);
      else if (!own.contains(member)) drain((Cell) member, deadline);
      // a worker of a pool closes: the other workers are asked to exit, too
      else for (var worker : ((Cell) member).crew()) if (!own.contains(worker)) await(worker, deadline);
    }
  }

  /** Waits here even if another thread closes it, which may be in a member and not wait for that one. */
  private void drainBelow(Members inner, Deadline deadline) {
    claim(inner);
    drain(inner, deadline);
  }

  /** Not before its turn: a member that ends earlier may close it, and then reports. */
  private void claim(Members inner) {
    var close = new ScopeClosing(inner, outermost);
    if (inner.claim(close) != close) return;
    below.add(close);
    inner.accounts().collectLeftovers();
    inner.endIfEmpty();
  }

  private void claimAll(Members from) {
    for (var member : from.members()) {
      if (!(member instanceof Members inner)) continue;
      claim(inner);
      claimAll(inner);
    }
  }

  private void drain(Cell cell, Deadline deadline) {
    sendPill(cell);
    await(cell, deadline);
  }

  private static void sendPill(Cell cell) {
    cell.extras().because(new ExitReason.Stopped());
    cell.sendPoisonPill();
  }

  private void interruptRest() {
    claimAll(scope);
    var rest = new ArrayList<>(Members.cells(scope));
    rest.removeAll(own);
    for (var cell : rest.reversed()) if (!exit(cell).isDone()) cell.kill(new ExitReason.Stopped());
    // each ends at its grace at the latest, or when the closer is interrupted
    for (var cell : rest.reversed())
      if (!await(cell, Deadline.NONE)) Termination.cutOff(cell, "before its grace was over");
  }

  private boolean await(Cell cell, Deadline deadline) {
    CallerRuns.beforeWait(); // it may be for this thread to run it
    if (cell.isStranded()) cell.rescue();
    var before = step;
    step = new Step(cell);
    before.next.complete(step);
    try (var wait = begin(cell)) {
      if (wait != null) breakRings(wait, cell);
      return await(exit(cell), deadline);
    }
  }

  /**
   * A member that waits for the closing handler could not end: it is told that the handler's actor
   * ends. If that breaks no ring, this wait is in vain, and the member is interrupted at once.
   */
  private void breakRings(Wait wait, Cell cell) {
    for (var ring = Ring.closedBy(wait); ring != null; ring = Ring.closedBy(wait)) {
      if (!ring.stopOne(own::contains)) {
        cell.kill(new ExitReason.Stopped());
        return;
      }
    }
  }

  private boolean await(CompletableFuture<?> end, Deadline deadline) {
    try {
      return deadline.await(end);
    } catch (InterruptedException interrupt) {
      interrupted = true;
      return end.isDone();
    }
  }

  private CancellationException interrupted() {
    return new CancellationException(
        "interrupted while closing scope '" + scope.name() + "'; what was not done by then is interrupted");
  }
}
