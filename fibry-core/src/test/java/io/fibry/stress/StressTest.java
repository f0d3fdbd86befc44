package io.fibry.stress;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.testing.StressRuns;
import org.junit.jupiter.api.Test;

/**
 * Tests the promises of sections 1 to 5 and 7 of docs/semantics.md by {@link StressRound}, under
 * random load.
 */
class StressTest {

  @Test
  void everyMessageHasOneOutcomeForEveryStrategyAndMailbox() throws InterruptedException {
    try (var harness = new StressHarness(StressRuns.seed())) {

      int rounds = harness.play(StressRuns.millis(800));

      assertTrue(rounds >= 42);
    }
  }
}
