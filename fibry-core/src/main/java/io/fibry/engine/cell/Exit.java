package io.fibry.engine.cell;

import io.fibry.ExitReason;
import io.fibry.engine.message.Deadline;
import io.fibry.engine.message.Ring;
import io.fibry.engine.message.Wait;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** The end of an actor, for the engine; no user can chain code to it. */
public final class Exit extends CompletableFuture<ExitReason> implements Wait.Awaited {
  private ExitFuture shown; // null until a user asks for it; guarded by this

  Exit() {}

  void end(ExitReason reason) {
    ExitFuture future;
    synchronized (this) {
      complete(reason);
      future = shown;
    }
    if (future != null) future.tell(reason);
  }

  /** Returns the end as users see it; the accounts count the code that users chain to it. */
  public synchronized CompletableFuture<ExitReason> shown(Wait.Party actor, Accounts accounts) {
    if (shown == null) {
      var future = new ExitFuture(this, deaf -> publish(actor, deaf), accounts);
      if (isDone()) future.tellHere(join()); // no code is chained to it yet
      shown = future;
    }
    return shown;
  }

  /** Returns null if this thread runs no handler, or the actor has ended. */
  private Wait publish(Wait.Party actor, boolean deaf) {
    var waiter = Wait.Waiter.current();
    if (waiter == null || isDone()) return null;
    Wait.prepare(actor, Wait.END);
    return Wait.begin(actor, Wait.END, this, waiter, deaf);
  }

  /** {@code limit} null: waits without limit. */
  public boolean await(Wait.Party actor, Duration limit) {
    if (isDone()) return true;
    Wait.prepare(actor, Wait.END);
    try (var wait = Wait.begin(actor, Wait.END, this)) {
      Ring.refuse(wait);
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
