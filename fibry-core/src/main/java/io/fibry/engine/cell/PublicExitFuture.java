package io.fibry.engine.cell;

import io.fibry.ExitReason;
import io.fibry.engine.message.DerivedFuture;
import io.fibry.engine.message.WaitCycle;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * The end of an actor as a future for users. All callers share the future, so only the actor may
 * complete it.
 *
 * <p>Chained code is user code and runs on a thread of its own, so neither the end nor another
 * callback waits for it. A thread that waits for this future waits for {@code exit} instead, which
 * has no chained code.
 */
final class PublicExitFuture extends CompletableFuture<ExitReason> {
  private final CompletableFuture<ExitReason> exit; // the engine's signal, which has no chained user code
  private final DerivedFuture.WaitPublisher waitPublisher;
  private final Accounts accounts;

  PublicExitFuture(CompletableFuture<ExitReason> exit, DerivedFuture.WaitPublisher waitPublisher, Accounts accounts) {
    this.exit = exit;
    this.waitPublisher = waitPublisher;
    this.accounts = accounts;
  }

  /** Called after the end: runs the chained code on another thread. */
  void notifyCallbacks(ExitReason reason) {
    try {
      start(() -> runInPlace(reason));
    } catch (Throwable error) { // no stack or memory: the chained code must run on this thread
      runInPlace(reason);
    }
  }

  /** Completes this future, which runs the chained code on this thread. */
  void runInPlace(ExitReason reason) {
    super.complete(reason);
  }

  @Override
  public Executor defaultExecutor() {
    return this::start;
  }

  /**
   * Runs chained code on another thread. Until the code has returned, {@code awaitQuiescence} of
   * the scope waits.
   */
  private void start(Runnable code) {
    accounts.runOffThread(code);
  }

  /**
   * Returns whether this future itself is complete, so that the thread that chains code runs the
   * code at once.
   */
  private boolean isNotified() {
    return super.isDone();
  }

  // ---- the result, which may exist before this future is complete

  @Override
  public boolean isDone() {
    return exit.isDone();
  }

  @Override
  public ExitReason get() throws InterruptedException, ExecutionException {
    try (var wait = waitPublisher.publish(false)) {
      WaitCycle.throwIfCycle(wait);
      return exit.get();
    }
  }

  @Override
  public ExitReason get(long timeout, TimeUnit unit) throws InterruptedException, ExecutionException, TimeoutException {
    try (var wait = waitPublisher.publish(false)) {
      WaitCycle.throwIfCycle(wait);
      return exit.get(timeout, unit);
    }
  }

  @Override
  public ExitReason join() {
    try (var wait = waitPublisher.publish(true)) {
      WaitCycle.throwIfCycle(wait);
      return exit.join();
    }
  }

  @Override
  public ExitReason getNow(ExitReason defaultReason) {
    return exit.getNow(defaultReason);
  }

  @Override
  public ExitReason resultNow() {
    return exit.resultNow();
  }

  @Override
  public State state() {
    return exit.state();
  }

  // ---- callbacks

  @Override
  public <U> CompletableFuture<U> newIncompleteFuture() {
    return new DerivedFuture<>(waitPublisher);
  }

  @Override
  public <U> CompletableFuture<U> thenApply(Function<? super ExitReason, ? extends U> code) {
    return isNotified() ? super.thenApply(code) : thenApplyAsync(code);
  }

  @Override
  public CompletableFuture<Void> thenAccept(Consumer<? super ExitReason> code) {
    return isNotified() ? super.thenAccept(code) : thenAcceptAsync(code);
  }

  @Override
  public CompletableFuture<Void> thenRun(Runnable code) {
    return isNotified() ? super.thenRun(code) : thenRunAsync(code);
  }

  @Override
  public <U, V> CompletableFuture<V> thenCombine(CompletionStage<? extends U> other,
      BiFunction<? super ExitReason, ? super U, ? extends V> code) {
    return isNotified() ? super.thenCombine(other, code) : thenCombineAsync(other, code);
  }

  @Override
  public <U> CompletableFuture<Void> thenAcceptBoth(CompletionStage<? extends U> other,
      BiConsumer<? super ExitReason, ? super U> code) {
    return isNotified() ? super.thenAcceptBoth(other, code) : thenAcceptBothAsync(other, code);
  }

  @Override
  public CompletableFuture<Void> runAfterBoth(CompletionStage<?> other, Runnable code) {
    return isNotified() ? super.runAfterBoth(other, code) : runAfterBothAsync(other, code);
  }

  @Override
  public <U> CompletableFuture<U> applyToEither(CompletionStage<? extends ExitReason> other,
      Function<? super ExitReason, U> code) {
    return isNotified() ? super.applyToEither(other, code) : applyToEitherAsync(other, code);
  }

  @Override
  public CompletableFuture<Void> acceptEither(CompletionStage<? extends ExitReason> other,
      Consumer<? super ExitReason> code) {
    return isNotified() ? super.acceptEither(other, code) : acceptEitherAsync(other, code);
  }

  @Override
  public CompletableFuture<Void> runAfterEither(CompletionStage<?> other, Runnable code) {
    return isNotified() ? super.runAfterEither(other, code) : runAfterEitherAsync(other, code);
  }

  @Override
  public <U> CompletableFuture<U> thenCompose(Function<? super ExitReason, ? extends CompletionStage<U>> code) {
    return isNotified() ? super.thenCompose(code) : thenComposeAsync(code);
  }

  @Override
  public CompletableFuture<ExitReason> whenComplete(BiConsumer<? super ExitReason, ? super Throwable> code) {
    return isNotified() ? super.whenComplete(code) : whenCompleteAsync(code);
  }

  @Override
  public <U> CompletableFuture<U> handle(BiFunction<? super ExitReason, Throwable, ? extends U> code) {
    return isNotified() ? super.handle(code) : handleAsync(code);
  }

  // ---- read-only

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

  private static UnsupportedOperationException readOnly() {
    return new UnsupportedOperationException("only the actor completes the future of its end; to end the actor, "
        + "call askExit, sendPoisonPill or kill; for a future that you can complete, call onExit().copy()");
  }
}
