package io.fibry.engine.message;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

/** A future that is notified before code is chained to it, and whose result cannot be changed. */
abstract class AnswerFuture<R> extends WaitPublishingFuture<R> implements DerivedFuture.WaitPublisher {
  /** Called before code is chained to this future, except by {@code allOf} and {@code anyOf}. */
  abstract void onChain();

  @Override
  public <U> CompletableFuture<U> newIncompleteFuture() {
    onChain();
    return new DerivedFuture<>(this);
  }

  @Override
  public CompletableFuture<R> toCompletableFuture() {
    onChain();
    return this;
  }

  @Override
  public CompletionStage<R> minimalCompletionStage() {
    onChain();
    return super.minimalCompletionStage();
  }

  @Override
  public CompletableFuture<R> completeAsync(Supplier<? extends R> supplier, Executor executor) {
    executor.execute(() -> {
      try {
        complete(supplier.get());
      } catch (Throwable failure) {
        completeExceptionally(failure);
      }
    });
    return this;
  }

  @Override
  public void obtrudeValue(R value) {
    throw new UnsupportedOperationException("the answer of an actor cannot be changed");
  }

  @Override
  public void obtrudeException(Throwable failure) {
    obtrudeValue(null);
  }
}
