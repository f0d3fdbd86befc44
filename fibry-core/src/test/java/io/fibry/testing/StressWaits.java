package io.fibry.testing;

import io.fibry.support.Patience;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.function.Supplier;

/** Waits of stress tests, whose failures show the state of the test. */
public final class StressWaits {
  private StressWaits() {}

  /** Runs the wait. If the wait fails, throws a failure that shows the state, too. */
  public static void runWithState(Runnable wait, Supplier<String> state) {
    try {
      wait.run();
    } catch (AssertionError failure) {
      throw new AssertionError(state.get() + ": " + failure.getMessage(), failure);
    }
  }

  /** Waits until the future has a value or a failure. */
  public static void awaitOutcome(Future<?> future) {
    Patience.eventually(future + " has no outcome", future::isDone);
  }

  /**
   * Waits for the answer. Returns null if the answer is the expected number, and otherwise a
   * failure.
   */
  public static Throwable failure(Future<? extends Number> future, long expected) throws InterruptedException {
    awaitOutcome(future);
    try {
      long answer = future.get().longValue();
      return answer == expected ? null : new AssertionError("got the answer " + answer);
    } catch (ExecutionException failure) {
      return failure.getCause();
    } catch (CancellationException cancellation) {
      return cancellation;
    }
  }
}
