package io.fibry.engine.cell;

import io.fibry.ExitReason;
import io.fibry.engine.message.Deadline;
import io.fibry.engine.message.Wait;
import io.fibry.engine.message.WaitCycle;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** The end of an actor, for the engine; no user can chain code to it. */
public final class ExitSignal extends CompletableFuture<ExitReason> implements Wait.Awaitable {
  private PublicExitFuture publicFuture; // null until a user asks for it; guarded by this

  ExitSignal() {}

  void end(ExitReason reason) {
    PublicExitFuture future;
    synchronized (this) {
      complete(reason);
      future = publicFuture;
    }
    if (future != null) future.notifyCallbacks(reason);
  }

  /** Returns the end as users see it; the accounts count the code that users chain to it. */
  public synchronized CompletableFuture<ExitReason> publicFuture(Wait.WaitTarget actor, Accounts accounts) {
    if (publicFuture == null) {
      var future = new PublicExitFuture(this, ignoresInterrupts -> publish(actor, ignoresInterrupts), accounts);
      if (isDone()) future.runInPlace(join()); // no code is chained to it yet
      publicFuture = future;
    }
    return publicFuture;
  }

  /** Returns null if this thread runs no handler, or the actor has ended. */
  private Wait publish(Wait.WaitTarget actor, boolean ignoresInterrupts) {
    var waiter = Wait.WaitingHandler.current();
    if (waiter == null || isDone()) return null;
    Wait.prepare(actor, Wait.END);
    return Wait.begin(actor, Wait.END, this, waiter, ignoresInterrupts);
  }

  /** {@code limit} null: waits without limit. */
  public boolean await(Wait.WaitTarget actor, Duration limit) {
    if (isDone()) return true;
    Wait.prepare(actor, Wait.END);
    try (var wait = Wait.begin(actor, Wait.END, this)) {
      WaitCycle.throwIfCycle(wait);
      if (limit == null) get();
      else get(Deadline.nanos(limit), TimeUnit.NANOSECONDS);
      return true;
    } catch (TimeoutException over) {
      return false;
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new CancellationException("interrupted while waiting for the end of actor '" + actor.name() + "'");
    } catch (ExecutionException impossible) {
      throw new AssertionError(impossible);
    }
  }

  @Override
  public boolean isOver() {
    return isDone();
  }

  @Override
  public boolean isEnd() {
    return true;
  }
}
