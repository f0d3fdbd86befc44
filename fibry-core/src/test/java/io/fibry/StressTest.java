package io.fibry;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/**
 * Tests the promises of sections 1 to 5 and 7 of docs/semantics.md by {@link StressRound}, under
 * random load.
 */
class StressTest {

  @Test
  void everyMessageHasOneOutcomeForEveryStrategyAndMailbox() throws InterruptedException {
    try (var harness = new StressHarness(StressHarness.seed())) {

      int rounds = harness.play(StressHarness.millis(800));

      assertTrue(rounds >= 42);
    }
  }
}
