package io.fibry.testing;

import io.fibry.support.Patience;
import io.fibry.support.Soak;
import java.util.SplittableRandom;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/**
 * The seed, the duration, the pauses and the waits of stress tests. A failure of a wait shows the
 * state of the test.
 */
public final class StressRuns {
  private StressRuns() {}

  /** Returns the value of -Dfibry.seed, or a new seed. */
  public static long seed() {
    return Long.getLong("fibry.seed", System.nanoTime());
  }

  /** Returns the duration of a stress test: three minutes in a soak, and otherwise the default. */
  public static long millis(long defaultMillis) {
    return Soak.ON ? TimeUnit.MINUTES.toMillis(3) : defaultMillis;
  }

  /** Rarely yields, spins or parks, to vary the order in which threads continue. */
  public static void jitter(SplittableRandom random) {
    switch (random.nextInt(40)) {
      case 0 -> Thread.yield();
      case 1, 2 -> Thread.onSpinWait();
      case 3 -> LockSupport.parkNanos(1 + random.nextInt(20_000));
      default -> {}
    }
  }

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
}
