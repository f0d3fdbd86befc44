package io.fibry.pool;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Hush;
import io.fibry.Promise;
import io.fibry.Variants;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Pools of every kind that end under random load; checked by {@link PoolStressRound}. */
@ExtendWith(Hush.class)
class PoolStressTest {
  @Promise("20.8")
  @Test
  void everyMessageHasOneOutcomeAndNoPoolDoesMoreAtOnceThanItMay() throws InterruptedException {
    long seed = Long.getLong("fibry.seed", System.nanoTime());
    System.out.println("pools: -Dfibry.seed=" + seed);
    long end = System.nanoTime()
        + TimeUnit.SECONDS.toNanos(Boolean.getBoolean("fibry.soak") ? 180 : Integer.getInteger("fibry.seconds", 4));
    int rounds = 0;

    while (System.nanoTime() < end) play(seed + rounds++);

    assertTrue(rounds > 20, "only " + rounds + " rounds");
    System.out.println("pools: " + rounds + " rounds");
  }

  private static void play(long seed) throws InterruptedException {
    try {
      new PoolStressRound(new SplittableRandom(seed), List.copyOf(Variants.STRATEGIES.keySet())).play();
    } catch (Throwable fault) {
      throw new AssertionError("-Dfibry.seed=" + seed + ": " + fault.getMessage(), fault);
    }
  }
}
