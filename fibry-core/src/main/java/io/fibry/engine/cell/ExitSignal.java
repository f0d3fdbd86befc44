package io.fibry.engine.cell;

import io.fibry.ExitReason;
import io.fibry.engine.message.Deadline;
import io.fibry.engine.message.Wait;
import io.fibry.engine.message.WaitCycle;
import io.fibry.engine.queue.PoolWaitFuture;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Completes at the end of an actor. The engine waits for this future. Users get a {@link
 * PublicExitFuture}, to which they can chain code.
 */
public final class ExitSignal extends PoolWaitFuture<ExitReason> implements Wait.Awaitable {
  private PublicExitFuture publicFuture; // null until a user calls onExit; guarded by this

  ExitSignal() {}

  void end(ExitReason reason) {
    PublicExitFuture future;
    synchronized (this) {
      complete(reason);
      future = publicFuture;
    }
    if (future != null) future.notifyCallbacks(reason);
  }

  /**
   * Returns the future of the end for users. While code that users chained to this future runs, the
   * scope is not quiescent: its accounts have a pending notification.
   */
  public synchronized CompletableFuture<ExitReason> publicFuture(Wait.WaitTarget actor, Accounts accounts) {
    if (publicFuture == null) {
      var future = new PublicExitFuture(this, ignoresInterrupts -> publish(actor, ignoresInterrupts), accounts);
      if (isDone()) future.runInPlace(join()); // no code can be chained to the future yet
      publicFuture = future;
    }
    return publicFuture;
  }

  /**
   * Publishes that this thread waits for the end. Returns null if this thread runs no handler, or
   * the actor has ended.
   */
  private Wait publish(Wait.WaitTarget actor, boolean ignoresInterrupts) {
    var waiter = Wait.WaitingHandler.current();
    if (waiter == null || isDone()) return null;
    Wait.checkMayWait(actor, Wait.END);
    return Wait.begin(actor, Wait.END, this, waiter, ignoresInterrupts);
  }

  /**
   * Waits until the actor has ended or the limit is over, and returns whether it has ended.
   *
   * @param limit the maximum time to wait, or null for a wait without a limit
   */
  public boolean await(Wait.WaitTarget actor, Duration limit) {
    if (isDone()) return true;
    Wait.checkMayWait(actor, Wait.END);
    try (var wait = Wait.begin(actor, Wait.END, this)) {
      WaitCycle.throwIfCycle(wait);
      if (limit == null) get();
      else get(Deadline.nanos(limit), TimeUnit.NANOSECONDS);
      return true;
    } catch (TimeoutException timeout) {
      return false;
    } catch (InterruptedException interruption) {
      Thread.currentThread().interrupt();
      throw new CancellationException("interrupted while waiting for the end of actor '" + actor.name() + "'");
    } catch (ExecutionException failure) {
      throw new AssertionError(failure);
    }
  }

  @Override
  public boolean isOver() {
    return isDone();
  }

  @Override
  public boolean isForEnd() {
    return true;
  }
}
