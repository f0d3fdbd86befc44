package io.fibry.engine.scope;

import io.fibry.ActorScope.Report;
import io.fibry.ExitReason;
import io.fibry.engine.cell.Cell;
import io.fibry.engine.cell.Termination;
import io.fibry.engine.jvm.CallerThreadRunner;
import io.fibry.engine.message.Deadline;
import io.fibry.engine.message.Wait;
import io.fibry.engine.message.WaitCycle;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/**
 * The close of one scope, by the first thread that calls it. Later threads wait for its report.
 *
 * <p><b>Order.</b> All doors are shut first. Then members end one after the other, the youngest
 * first, so that the actors that a member was given outlive it. Inner scopes are closed in their
 * turn, or by their last member if that ends earlier.
 *
 * <p><b>Limit.</b> After the limit the rest is interrupted at once, and abandoned after a shared
 * grace. So a close lasts at most limit and grace, however deep the tree. An interrupt of the
 * closing thread ends its patience, not the close.
 *
 * <p><b>Cycles.</b> A handler that closes a scope around its actor cannot wait for that actor,
 * which exits after the message instead. A thread that waits for the report publishes the wait of
 * the closing thread as its own ({@code joinPublished}), so cycles through a close are found.
 *
 * <p><b>Errors.</b> If the closing thread runs out of stack, it kills the rest, and the report is
 * completed all the same. {@code step} is written by the closing thread only; other threads read it
 * and then wait for its {@code next}.
 */
final class ScopeCloser implements ScopeState.PendingClose {
  /** @param cell the actor whose end the closer waits for; null if the closer is at work */
  private record CloserStep(Cell cell, Deadline deadline, CompletableFuture<CloserStep> next) implements ExitWait {
    CloserStep(Cell cell, Deadline deadline) {
      this(cell, deadline, new CompletableFuture<>());
    }

    boolean isWait() {
      return cell != null && !cell.extras().isNotified() && !deadline.getAsBoolean();
    }
  }

  private final ScopeState scope;
  private final CompletableFuture<Report> report = new CompletableFuture<>();
  private final List<ScopeCloser> below = new ArrayList<>(); // of scopes below; closer only
  private final ScopeCloser outermost; // whose closer does the work
  private List<Cell> currentCells = List.of(); // the closer is in their handlers; written before its first step
  private boolean interrupted; // closer only
  private volatile Thread closer = Thread.currentThread(); // null once the close is done; written by itself
  // Written by the closer, read by waiting handlers
  private volatile CloserStep step = new CloserStep(null, Deadline.NONE);

  ScopeCloser(ScopeState scope) {
    this.scope = scope;
    this.outermost = this;
  }

  private ScopeCloser(ScopeState below, ScopeCloser outermost) {
    this.scope = below;
    this.outermost = outermost;
  }

  /**
   * Waits for the report. A handler in the scope, or a hook on the closer's thread, gets one of
   * this moment: it would wait for itself.
   */
  Report join() {
    if (closer == Thread.currentThread() || !scope.current().isEmpty()) return scope.report(List.of());
    try {
      if (Wait.WaitingHandler.current() != null) joinPublished();
      return report.get();
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw interrupted();
    } catch (ExecutionException impossible) {
      throw new AssertionError(impossible);
    }
  }

  @Override
  public boolean isDone() {
    return closer == null;
  }

  @Override
  public ExitWait currentWait() {
    var now = outermost.step;
    return now.isWait() ? now : null;
  }

  /** Publishes what the closer waits for, so that rings are found. */
  private void joinPublished() throws InterruptedException, ExecutionException {
    while (!report.isDone()) {
      var now = outermost.step;
      try (var wait = now.cell == null ? null : begin(now.cell)) {
        if (wait != null) outermost.breakCycles(wait, now.cell);
        CompletableFuture.anyOf(report, now.next).get();
      }
    }
  }

  private static Wait begin(Cell cell) {
    return Wait.begin(cell, Wait.CLOSE, cell.extras().exit());
  }

  /** Needs shut doors. */
  Report run(Deadline deadline) {
    currentCells = scope.current();
    scope.accounts().collectUndelivered();
    try {
      currentCells.forEach(ScopeCloser::endCurrent);
      drain(scope, deadline);
      interruptRemaining();
    } catch (Throwable deep) { // at the end of a fiber's stack a park throws a StackOverflowError
      killRemaining();
      throw deep;
    } finally {
      below.reversed().forEach(ScopeCloser::finish);
      finish();
    }
    return report.join();
  }

  Report result() {
    if (!interrupted) return report.join();
    Thread.currentThread().interrupt();
    throw interrupted();
  }

  /** Called by the closer and by the last member to leave. */
  @Override
  public void finish() {
    if (!report.isDone()) report.complete(scope.report(scope.accounts().undelivered()));
    scope.accounts().stopCollecting(); // the last member may have left before the closer began
    if (closer == null) return;
    closer = null;
    scope.endIfEmpty();
  }

  /**
   * The actor ends after its handler. Requests in its mailbox fail now: members that wait for them
   * could not end.
   */
  private static void endCurrent(Cell cell) {
    cell.stopAccepting(new ExitReason.Stopped());
    var drain = cell.worker();
    if (drain != null) Termination.failQueuedRequests(drain);
  }

  /**
   * The last made first; but doors to the outside get their pill before. A part, such as entities,
   * makes actors until its turn, and that does not come before those doors have ended. The farewell
   * repeats the first act of its turn.
   */
  private void drain(ScopeState from, Deadline deadline) {
    var doors = from.closingFirst().stream().filter(door -> !currentCells.contains(door)).toList();
    doors.forEach(ScopeCloser::sendPill);
    for (var member : from.members().reversed()) {
      if (interrupted || deadline.getAsBoolean()) return;
      if (member instanceof ScopeState inner) {
        if (inner.isBlockScope()) for (var door : doors) await(door, deadline);
        claim(inner);
        if (inner.isBlockScope()) await(inner.closeHooks.end(), deadline);
        drain(inner, deadline); // even if another thread closes it, perhaps in a member
        continue;
      }
      var cell = (Cell) member;
      if (!currentCells.contains(cell)) {
        if (endIdle(cell)) continue;
        cell.sendPoisonPill();
        await(cell, deadline);
        // Ended by endOwn.
      } else for (var worker : cell.workersAndSelf()) if (!currentCells.contains(worker)) await(worker, deadline);
    }
  }

  /** Called only at its turn, because a member may close it first, and report. */
  private void claim(ScopeState inner) {
    inner.refuseNewMembers(); // of a part
    var close = new ScopeCloser(inner, outermost);
    if (inner.claim(close) != close) return;
    below.add(close);
    inner.accounts().collectUndelivered();
    inner.endIfEmpty();
  }

  private void claimAll(ScopeState from) {
    for (var inner : from.innerScopes()) {
      claim(inner);
      claimAll(inner);
    }
  }

  private static void sendPill(Cell cell) {
    cell.extras().setReason(new ExitReason.Stopped());
    cell.sendPoisonPill();
  }

  private static boolean endIdle(Cell cell) {
    cell.extras().setReason(new ExitReason.Stopped());
    return cell.endIdle();
  }

  private void interruptRemaining() {
    claimAll(scope);
    // until its grace is over, or the closer is interrupted
    for (var cell : killRemaining())
      if (!await(cell, Deadline.NONE)) Termination.cutOff(cell, "before its grace was over");
  }

  private List<Cell> killRemaining() {
    var rest = new ArrayList<>(ScopeState.cells(scope));
    rest.removeAll(currentCells);
    for (var cell : rest.reversed())
      if (!cell.extras().isNotified() && !endIdle(cell)) cell.kill(new ExitReason.Stopped());
    return rest.reversed();
  }

  private boolean await(Cell cell, Deadline deadline) {
    CallerThreadRunner.beforeWait(); // this thread may have to run it
    if (cell.isStranded()) cell.rescue();
    publish(new CloserStep(cell, deadline));
    try (var wait = begin(cell)) {
      if (wait != null) breakCycles(wait, cell);
      if (await(cell.extras().exit(), deadline)) return true;
      publish(new CloserStep(null, Deadline.NONE));
      return false;
    }
  }

  private void publish(CloserStep now) {
    var before = step;
    step = now;
    before.next.complete(now);
  }

  /**
   * A member that waits for the closing handler is told that the handler's actor ends, or
   * interrupted.
   */
  private void breakCycles(Wait wait, Cell cell) {
    var ring = WaitCycle.findFor(wait);
    while (ring != null && ring.failOneWait(currentCells::contains)) ring = WaitCycle.findFor(wait);
    if (ring != null) cell.kill(new ExitReason.Stopped());
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
