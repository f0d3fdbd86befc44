package io.fibry.engine.scope;

import io.fibry.ActorScope.Report;
import io.fibry.ExitReason;
import io.fibry.engine.actor.ActorCell;
import io.fibry.engine.cell.Activation;
import io.fibry.engine.cell.Dispatch;
import io.fibry.engine.cell.Termination;
import io.fibry.engine.jvm.CallerRuns;
import io.fibry.engine.message.Deadline;
import io.fibry.engine.message.Wait;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/**
 * The close of one scope. Whoever closes first does it, on his own thread; who comes later waits
 * for his report. Members end one after the other, the last made first, as nested resources would:
 * whom an actor was given when it was made is there until it has ended. When the time is over, all
 * that is left is interrupted at once, and what ignores that past its grace is cut off: so a close
 * always ends.
 *
 * <p>An actor whose handler closes its own scope, or one around it, cannot wait for itself: it is
 * asked to exit after this message, and is not waited for.
 */
public final class ScopeClosing {
  /** One member that is waited for, and what comes next. */
  private record Step(ActorCell cell, CompletableFuture<Step> next) {
    public Step(ActorCell cell) {
      this(cell, new CompletableFuture<>());
    }
  }

  private final Scope scope;
  private final CompletableFuture<Report> report = new CompletableFuture<>();
  // of scopes that this one closes; closer only
  private final List<ScopeClosing> below = new ArrayList<>();
  // whose closer does the work: this one's own, or that of a scope around
  private final ScopeClosing outermost;
  // actors in whose handlers the closer is; written by him before his first step
  private List<ActorCell> own = List.of();
  private boolean interrupted; // closer only
  private volatile Thread closer = Thread.currentThread(); // null: it is through
  // the last begun; written by the closer, read by handlers that wait for his report
  private volatile Step step = new Step(null);

  public ScopeClosing(Scope scope) {
    this.scope = scope;
    this.outermost = this;
  }

  private ScopeClosing(Scope below, ScopeClosing outermost) {
    this.scope = below;
    this.outermost = outermost;
  }

  /**
   * Waits for the report of the first; from a handler in the scope that would be a wait for itself,
   * and so it would be from a hook that the first runs on his own thread.
   */
  public Report join() {
    if (closer == Thread.currentThread() || !current().isEmpty()) return scope.report();
    try {
      if (Activation.CURRENT.get() != null) follow();
      return report.get();
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw interrupted();
    } catch (ExecutionException impossible) {
      throw new AssertionError(impossible);
    }
  }

  /**
   * A handler that waits for the closer waits for whom the closer waits for: it says so, or rings
   * through it would not be found.
   */
  private void follow() throws InterruptedException, ExecutionException {
    while (!report.isDone()) {
      var now = outermost.step;
      try (var wait = now.cell == null ? null : Wait.begin(now.cell, Wait.CLOSE, now.cell.onExit())) {
        if (wait != null) outermost.breakRings(wait, now.cell);
        CompletableFuture.anyOf(report, now.next).get();
      }
    }
  }

  /** Closes it; the doors are shut. */
  public Report run(Deadline limit) {
    own = current();
    scope.accounts().collectLeftovers();
    try {
      own.forEach(ScopeClosing::endOwn);
      drain(scope, limit);
      interruptRest();
    } finally {
      below.reversed().forEach(ScopeClosing::finish);
      finish();
    }
    return report.join();
  }

  /** For the closer, at last: its report, or that it was interrupted. */
  public Report result() {
    if (!interrupted) return report.join();
    Thread.currentThread().interrupt();
    throw interrupted();
  }

  /** By the closer, or by the last member that leaves, whoever comes first. */
  public void finish() {
    if (!report.isDone()) report.complete(scope.report(scope.accounts().leftovers()));
    // also where the last member left before the closer began to collect
    scope.accounts().stopCollecting();
    if (closer == null) return;
    closer = null;
    scope.leaveIfEmpty();
  }

  private List<ActorCell> current() {
    return Scope.cells(scope).stream().filter(ActorCell::isCurrent).toList();
  }

  /**
   * It ends when its handler returns; who waits in its mailbox is told now, since members may, and
   * could not end before.
   */
  private static void endOwn(ActorCell cell) {
    cell.rich().because(new ExitReason.Stopped());
    cell.shutDoor();
    var worker = cell.run();
    if (worker != null) Termination.failBehind(worker);
  }

  /** The last made first, one after the other; but doors to the outside are told before. */
  private void drain(Scope from, Deadline limit) {
    for (var member : from.members())
      if (member instanceof ActorCell cell && cell.behaviour.how.first() && !own.contains(cell)) tell(cell);
    for (var member : from.members().reversed()) {
      if (interrupted || limit.getAsBoolean()) return;
      if (member instanceof Scope inner) drainBelow(inner, limit);
      else if (!own.contains(member)) drain((ActorCell) member, limit);
      // one of a pool closes: the others are asked to exit too
      else for (var worker : ((ActorCell) member).crew()) if (!own.contains(worker)) await(worker, limit);
    }
  }

  /**
   * Its members are waited for here also if somebody else closes it: he may be in one of them, and
   * not wait for that one.
   */
  private void drainBelow(Scope inner, Deadline limit) {
    claim(inner);
    drain(inner, limit);
  }

  /** In its turn, and not before: a member that ends earlier may close it, and then reports. */
  private void claim(Scope inner) {
    var close = new ScopeClosing(inner, outermost);
    if (inner.claim(close) != close) return;
    below.add(close);
    inner.accounts().collectLeftovers();
    inner.leaveIfEmpty();
  }

  private void claimAll(Scope from) {
    for (var member : from.members()) {
      if (!(member instanceof Scope inner)) continue;
      claim(inner);
      claimAll(inner);
    }
  }

  private void drain(ActorCell cell, Deadline limit) {
    tell(cell);
    await(cell, limit);
  }

  private static void tell(ActorCell cell) {
    cell.rich().because(new ExitReason.Stopped());
    cell.sendPoisonPill();
  }

  private void interruptRest() {
    claimAll(scope);
    var rest = new ArrayList<>(Scope.cells(scope));
    rest.removeAll(own);
    for (var cell : rest.reversed()) if (!cell.onExit().isDone()) cell.kill(new ExitReason.Stopped());
    // its grace ends it, or an interrupt of who closes
    for (var cell : rest.reversed())
      if (!await(cell, Deadline.NONE)) Dispatch.cutOff(cell, "before its grace was over");
  }

  private boolean await(ActorCell cell, Deadline limit) {
    CallerRuns.beforeWait(); // it may be this thread that is to run it
    if (cell.stranded != null) Dispatch.rescue(cell);
    var before = step;
    step = new Step(cell);
    before.next.complete(step);
    try (var wait = Wait.begin(cell, Wait.CLOSE, cell.onExit())) {
      if (wait != null) breakRings(wait, cell);
      return await(cell.onExit(), limit);
    }
  }

  /**
   * Who waits for the handler that closes could not end: he is told, where its actor ends too; else
   * this wait is in vain, and the member interrupted at once.
   */
  private void breakRings(Wait wait, ActorCell cell) {
    for (var ring = wait.ring(); ring != null; ring = wait.ring()) {
      if (ring.stream().noneMatch(each -> own.contains(each.on) && each.stop())) {
        cell.kill(new ExitReason.Stopped());
        return;
      }
    }
  }

  private boolean await(CompletableFuture<?> end, Deadline limit) {
    try {
      return limit.await(end);
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
