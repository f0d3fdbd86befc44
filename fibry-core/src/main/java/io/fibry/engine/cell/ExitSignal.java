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
  private PublicExitFuture shown; // null until a user asks for it; guarded by this

  ExitSignal() {}

  void end(ExitReason reason) {
    PublicExitFuture future;
    synchronized (this) {
      complete(reason);
      future = shown;
    }
    if (future != null) future.tell(reason);
  }

  /** Returns the end as users see it; the accounts count the code that users chain to it. */
  public synchronized CompletableFuture<ExitReason> shown(Wait.WaitTarget actor, Accounts accounts) {
    if (shown == null) {
      var future = new PublicExitFuture(this, deaf -> publish(actor, deaf), accounts);
      if (isDone()) future.tellHere(join()); // no code is chained to it yet
      shown = future;
    }
    return shown;
  }

  /** Returns null if this thread runs no handler, or the actor has ended. */
  private Wait publish(Wait.WaitTarget actor, boolean deaf) {
    var waiter = Wait.WaitingHandler.current();
    if (waiter == null || isDone()) return null;
    Wait.prepare(actor, Wait.END);
    return Wait.begin(actor, Wait.END, this, waiter, deaf);
  }

  /** {@code limit} null: waits without limit. */
  public boolean await(Wait.WaitTarget actor, Duration limit) {
    if (isDone()) return true;
    Wait.prepare(actor, Wait.END);
    try (var wait = Wait.begin(actor, Wait.END, this)) {
      WaitCycle.refuse(wait);
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
