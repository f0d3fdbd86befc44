package io.fibry.engine.cell;

import io.fibry.ExitReason;
import io.fibry.engine.message.Deadline;
import io.fibry.engine.message.Ring;
import io.fibry.engine.message.Wait;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/** The end of an actor. All callers share it, so only the actor completes it. */
public final class ExitFuture extends CompletableFuture<ExitReason> implements Wait.Awaited {
  ExitFuture() {}

  void end(ExitReason reason) {
    super.complete(reason);
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

  @Override
  public boolean complete(ExitReason reason) {
    throw readOnly();
  }

  @Override
  public boolean completeExceptionally(Throwable failure) {
    throw readOnly();
  }

  @Override
  public boolean cancel(boolean mayInterruptIfRunning) {
    throw readOnly();
  }

  @Override
  public CompletableFuture<ExitReason> completeAsync(Supplier<? extends ExitReason> supplier, Executor executor) {
    throw readOnly();
  }

  @Override
  public CompletableFuture<ExitReason> orTimeout(long timeout, TimeUnit unit) {
    throw readOnly();
  }

  @Override
  public CompletableFuture<ExitReason> completeOnTimeout(ExitReason reason, long timeout, TimeUnit unit) {
    throw readOnly();
  }

  @Override
  public void obtrudeValue(ExitReason reason) {
    throw readOnly();
  }

  @Override
  public void obtrudeException(Throwable failure) {
    throw readOnly();
  }

  @Override
  public <U> CompletableFuture<U> newIncompleteFuture() {
    return new CompletableFuture<>();
  }

  private static UnsupportedOperationException readOnly() {
    return new UnsupportedOperationException("an actor's end can only be waited for; to end it, call askExit, "
        + "sendPoisonPill or kill; for a future of your own, take onExit().copy()");
  }
}
