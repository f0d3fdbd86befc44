package io.fibry.engine.scope;

import io.fibry.ActorScope.Report;
import io.fibry.ExitReason;
import io.fibry.engine.cell.Cell;
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
 * The close of one scope. The first thread that closes the scope does the work; later threads wait
 * for the report.
 *
 * <p><b>Order.</b> First the scope and its inner scopes refuse new members. The members then end
 * one after the other, the youngest first. So a member ends before the older actors that were given
 * to it. The close of an inner scope begins when its turn in this order comes. That close is
 * complete when the last member of the inner scope has ended, or at the end of this close.
 *
 * <p><b>Limit.</b> After the limit, the remaining actors are interrupted at once, and cut off after
 * a grace period that they share. So a close lasts at most the limit plus the grace period, however
 * deep the tree is. If the closing thread is interrupted, it stops waiting, but completes the
 * close.
 *
 * <p><b>Cycles.</b> A handler that closes a scope around its actor cannot wait for that actor. The
 * actor ends after its current message instead. A thread that waits for the report publishes the
 * wait of the closing thread as its own ({@code joinPublished}), so cycles through a close are
 * found.
 *
 * <p><b>Steps.</b> Only the closing thread writes {@code step}. A thread that waits for the report
 * reads the step, and waits for its {@code next}.
 *
 * <p><b>Errors.</b> If the closing thread runs out of stack, it kills the remaining actors, and
 * still completes the report.
 */
final class ScopeCloser implements ScopeState.PendingClose {
  /**
   * @param cell the actor whose end the closing thread waits for; null if that thread is at work
   * @param deadline when that wait ends
   * @param next completes with the next step
   */
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
  private final List<ScopeCloser> innerCloses = new ArrayList<>(); // the closes of inner scopes; closing thread only
  private final ScopeCloser outermost; // the close whose thread does the work
  // the actors whose handlers run on the closing thread; written before its first step
  private List<Cell> currentCells = List.of();
  private boolean isInterrupted; // whether the closing thread was interrupted; closing thread only
  private volatile Thread closingThread = Thread.currentThread(); // null once the close is done; cleared by `finish`
  // Written by the closing thread, read by waiting handlers
  private volatile CloserStep step = new CloserStep(null, Deadline.NONE);

  ScopeCloser(ScopeState scope) {
    this.scope = scope;
    this.outermost = this;
  }

  private ScopeCloser(ScopeState innerScope, ScopeCloser outermost) {
    this.scope = innerScope;
    this.outermost = outermost;
  }

  /**
   * Waits for the report. A handler in the scope, or a hook on the closing thread, would wait for
   * itself. So it gets a report of the present counts instead.
   */
  Report join() {
    if (closingThread == Thread.currentThread() || !scope.currentCells().isEmpty()) return scope.report(List.of());
    try {
      if (Wait.WaitingHandler.current() != null) joinPublished();
      return report.get();
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw interruptedException("; another thread closes it, and continues");
    } catch (ExecutionException impossible) {
      throw new AssertionError(impossible);
    }
  }

  @Override
  public boolean isDone() {
    return closingThread == null;
  }

  @Override
  public ExitWait currentWait() {
    var currentStep = outermost.step;
    return currentStep.isWait() ? currentStep : null;
  }

  /**
   * Waits for the report. During the wait, publishes the waits of the closing thread as waits of
   * this thread, so that cycles are found.
   */
  private void joinPublished() throws InterruptedException, ExecutionException {
    while (!report.isDone()) {
      var currentStep = outermost.step;
      try (var wait = currentStep.cell == null ? null : begin(currentStep.cell)) {
        if (wait != null) outermost.breakCycles(wait, currentStep.cell);
        CompletableFuture.anyOf(report, currentStep.next).get();
      }
    }
  }

  private static Wait begin(Cell cell) {
    return Wait.begin(cell, Wait.CLOSE, cell.extras().exit());
  }

  /** Closes the scope, which must refuse new members already. */
  Report run(Deadline deadline) {
    currentCells = scope.currentCells();
    scope.accounts().collectLettersOfClose();
    try {
      currentCells.forEach(ScopeCloser::endCurrent);
      drain(scope, deadline);
      interruptRemaining();
    } catch (Throwable error) { // a fiber that parks with too little stack throws a StackOverflowError
      killRemaining();
      throw error;
    } finally {
      innerCloses.reversed().forEach(ScopeCloser::finish);
      finish();
    }
    return report.join();
  }

  Report reportOrThrow() {
    if (!isInterrupted) return report.join();
    Thread.currentThread().interrupt();
    throw interruptedException("; actors that had not ended by then were interrupted, too");
  }

  /**
   * Completes the report. Called by the closing thread, and when the last member is removed from
   * the scope.
   */
  @Override
  public void finish() {
    if (!report.isDone()) report.complete(scope.report(scope.accounts().lettersOfClose()));
    scope.accounts().stopCollecting(); // the last member may have ended before the closing thread began to collect
    if (closingThread == null) return;
    closingThread = null;
    scope.endIfEmpty();
  }

  /**
   * Lets the actor end after its current message. The requests in its mailbox fail now, because
   * members that wait for the answers could not end.
   */
  private static void endCurrent(Cell cell) {
    cell.stopAccepting(new ExitReason.Stopped());
    var drain = cell.drain();
    if (drain != null) cell.failQueuedRequests(drain);
  }

  /**
   * Ends the members, the youngest first. But members that close first, such as servers, get their
   * pills before all others. The inner scope of a block, such as entities, takes new actors until
   * its turn, which comes after the members that close first have ended. The close hooks of such a
   * scope must end before its members end.
   */
  private void drain(ScopeState drainedScope, Deadline deadline) {
    var closingFirst = drainedScope.actorsClosingFirst().stream().filter(cell -> !currentCells.contains(cell)).toList();
    closingFirst.forEach(ScopeCloser::sendPill);
    for (var member : drainedScope.members().reversed()) {
      if (isInterrupted || deadline.getAsBoolean()) return;
      if (member instanceof ScopeState innerScope) {
        if (innerScope.isBlockScope()) for (var cell : closingFirst) await(cell, deadline);
        claim(innerScope);
        if (innerScope.isBlockScope()) await(innerScope.closeHooks.whenAllEnded(), deadline);
        drain(innerScope, deadline); // even if another thread, perhaps in a member's handler, closes the inner scope
        continue;
      }
      var cell = (Cell) member;
      if (!currentCells.contains(cell)) {
        if (endIdle(cell)) continue;
        cell.sendPoisonPill();
        await(cell, deadline);
        // endCurrent ends the actors whose handlers run on this thread
      } else for (var worker : cell.workersAndSelf()) if (!currentCells.contains(worker)) await(worker, deadline);
    }
  }

  /**
   * Gives the inner scope a close that is a part of this close, unless the inner scope has a close
   * already. Called only at the turn of the inner scope, because until then a member may close it,
   * and get the report.
   */
  private void claim(ScopeState innerScope) {
    innerScope.refuseNewMembers(); // the scope of a block took new members until now
    var close = new ScopeCloser(innerScope, outermost);
    if (innerScope.claim(close) != close) return;
    innerCloses.add(close);
    innerScope.accounts().collectLettersOfClose();
    innerScope.endIfEmpty();
  }

  private void claimAll(ScopeState outerScope) {
    for (var innerScope : outerScope.innerScopes()) {
      claim(innerScope);
      claimAll(innerScope);
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
    // waits until the actor has ended or its grace period is over, or this thread is interrupted
    for (var cell : killRemaining())
      if (!await(cell, Deadline.NONE)) cell.cutOff("before its grace period was over");
  }

  private List<Cell> killRemaining() {
    var remaining = new ArrayList<>(ScopeState.cells(scope));
    remaining.removeAll(currentCells);
    for (var cell : remaining.reversed())
      if (!cell.extras().isNotified() && !endIdle(cell)) cell.kill(new ExitReason.Stopped());
    return remaining.reversed();
  }

  private boolean await(Cell cell, Deadline deadline) {
    CallerThreadRunner.beforeWait(); // this thread may have postponed the drain of the actor
    if (cell.isStranded()) cell.tryRescue();
    publish(new CloserStep(cell, deadline));
    try (var wait = begin(cell)) {
      if (wait != null) breakCycles(wait, cell);
      if (await(cell.extras().exit(), deadline)) return true;
      publish(new CloserStep(null, Deadline.NONE));
      return false;
    }
  }

  private void publish(CloserStep newStep) {
    var previousStep = step;
    step = newStep;
    previousStep.next.complete(newStep);
  }

  /**
   * Breaks the cycles of which this wait is a part. A request of a member to the actor of the
   * closing handler fails, because that actor ends. If a cycle has no such request, the awaited
   * actor is killed.
   */
  private void breakCycles(Wait wait, Cell cell) {
    var cycle = WaitCycle.findFor(wait);
    while (cycle != null && cycle.failOneWait(currentCells::contains)) cycle = WaitCycle.findFor(wait);
    if (cycle != null) cell.kill(new ExitReason.Stopped());
  }

  private boolean await(CompletableFuture<?> future, Deadline deadline) {
    try {
      return deadline.await(future);
    } catch (InterruptedException interrupt) {
      isInterrupted = true;
      return future.isDone();
    }
  }

  private CancellationException interruptedException(String consequence) {
    return new CancellationException(
        "interrupted while closing scope '" + scope.name() + "'" + consequence);
  }
}
