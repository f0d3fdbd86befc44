package io.fibry.pool;

import io.fibry.testing.Promise;
import io.fibry.testing.SilencedStdErr;
import io.fibry.testing.StressRuns;
import io.fibry.testing.Variants;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Runs rounds of {@link PoolStressRound}, in which pools of every kind end under random load. */
@ExtendWith(SilencedStdErr.class)
class PoolStressTest {
  private static final int MIN_ROUNDS = 20;

  @Promise("20.8")
  @Test
  void everyMessageHasOneOutcomeAndPoolsObeyTheirLimits() throws InterruptedException {
    long seed = StressRuns.seed();
    System.out.println("pools: -Dfibry.seed=" + seed);
    long end = System.nanoTime()
        + TimeUnit.MILLISECONDS.toNanos(StressRuns.millis(600));
    int rounds = 0;

    while (rounds < MIN_ROUNDS || System.nanoTime() < end) play(seed + rounds++);

    System.out.println("pools: " + rounds + " rounds");
  }

  private static void play(long seed) throws InterruptedException {
    try {
      new PoolStressRound(new SplittableRandom(seed), List.copyOf(Variants.STRATEGIES.keySet())).play();
    } catch (Throwable failure) {
      throw new AssertionError("-Dfibry.seed=" + seed + ": " + failure.getMessage(), failure);
    }
  }
}
