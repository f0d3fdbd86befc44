package io.fibry.durable.delivery;

import io.fibry.AskTimeoutException;
import io.fibry.Request;
import io.fibry.text.Durations;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Function;

/**
 * The limit that the caller of a request gave. The limit includes the time in which the request is
 * stored, and waits until earlier messages are sent. The actor is asked with the remaining time.
 *
 * @param clock null for NONE
 * @param startNanos time by the clock at which the limit began
 */
record RequestLimit(Scheduler clock, Duration duration, long startNanos) {
  static final RequestLimit NONE = new RequestLimit(null, Duration.ofNanos(Long.MAX_VALUE), 0);

  static RequestLimit start(Scheduler clock, Duration limit) {
    return new RequestLimit(clock, Objects.requireNonNull(limit, "limit"), clock.nanoTime());
  }

  Duration remaining() {
    if (this == NONE) return duration;
    var remaining = duration.minusNanos(clock.nanoTime() - startNanos);
    return remaining.isPositive() ? remaining : Duration.ofNanos(1);
  }

  /** Waits for the future, at most until the limit. Returns whether the future is done. */
  boolean awaitDone(CompletableFuture<?> future) throws InterruptedException {
    if (this != NONE) return clock.awaitDone(future, remaining());
    try {
      future.get();
    } catch (ExecutionException | CancellationException failure) {} // the caller reads the failure from the future
    return true;
  }

  /**
   * Sends a held request with the remaining time, and passes its answer on. Called by a courier,
   * which must not run code of the asker.
   */
  <R> void send(Request<?, R> request, Function<Duration, CompletableFuture<R>> sending, CompletableFuture<R> answer) {
    CompletableFuture<R> future;
    try {
      future = sending.apply(remaining());
    } catch (RuntimeException | Error failure) { // an Error too: the asker may wait without a limit
      future = CompletableFuture.failedFuture(failure);
    }
    var targetAnswer = future;
    answer.whenComplete((value, failure) -> targetAnswer.cancel(true)); // no effect if `targetAnswer` is done
    var courier = Thread.currentThread();
    targetAnswer.whenComplete((value, failure) -> {
      Runnable settle = () -> {
        if (failure == null) answer.complete(value);
        else answer.completeExceptionally(withWholeLimit(failure, request));
      };
      // this code runs on the courier if the target has answered already
      if (Thread.currentThread() == courier) Thread.startVirtualThread(settle);
      else settle.run();
    });
  }

  /**
   * If the failure is a time-out of this request, returns a copy that names the whole limit.
   * Returns any other failure unchanged.
   */
  Throwable withWholeLimit(Throwable failure, Object request) {
    return failure instanceof AskTimeoutException timeout && timeout.request() == request
        ? withWholeLimit(timeout) : failure;
  }

  AskTimeoutException withWholeLimit(AskTimeoutException timeout) {
    var passed = duration.minus(timeout.limit());
    if (!passed.isPositive()) return timeout;
    var withWholeLimit = new AskTimeoutException(
        Durations.text(passed) + " of the limit of " + Durations.text(duration) + " passed before it was sent: "
            + timeout.getMessage(),
        timeout.actor(), timeout.request(), duration, timeout.getCause(), timeout.outcome());
    withWholeLimit.setStackTrace(timeout.getStackTrace());
    return withWholeLimit;
  }
}
