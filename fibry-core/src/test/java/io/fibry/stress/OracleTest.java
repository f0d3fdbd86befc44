package io.fibry.stress;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.support.Soak;
import io.fibry.testing.SilencedStdErr;
import io.fibry.testing.StressRuns;
import java.time.Duration;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Tests that the outcome that a sender gets agrees with the work of the handlers. Meanwhile there
 * are failures, retries, backoffs, time-outs, cancels, interrupts, kills and closes, on threads of
 * every kind.
 */
@ExtendWith(SilencedStdErr.class)
class OracleTest {
  private static final Duration DURATION = Soak.ON ? Duration.ofHours(1) : Duration.ofSeconds(2);

  @Test
  void outcomesThatSendersSeeMatchHandledMessages() throws InterruptedException {
    long seed = StressRuns.seed();
    System.out.println("oracle: -Dfibry.seed=" + seed);

    assertTrue(play(seed, Duration.ofMillis(Long.getLong("fibry.oracle", DURATION.toMillis()))) > 0);
  }

  /** Plays rounds for this time, and returns the number of messages. */
  private static long play(long seed, Duration time) throws InterruptedException {
    long end = System.nanoTime() + time.toNanos();
    long messages = 0;
    int round = 0;
    while (round == 0 || System.nanoTime() < end) {
      try {
        messages += new OracleRound(new SplittableRandom(seed + round)).play();
      } catch (AssertionError failure) {
        throw new AssertionError("round " + round + ", -Dfibry.seed=" + (seed + round) + ": " + failure.getMessage(),
            failure);
      }
      round++;
    }
    System.out.println("oracle: " + messages + " messages in " + round + " rounds");
    return messages;
  }
}
