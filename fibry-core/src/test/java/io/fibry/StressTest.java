package io.fibry;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** The promises of sections 1 to 5 and 7 under random load. {@link StressRound} has the checks. */
class StressTest {

  @Test
  void everyMessageHasOneOutcomeForEveryStrategyAndMailbox() throws InterruptedException {
    try (var harness = new StressHarness(StressHarness.seed())) {

      int rounds = harness.play(StressHarness.millis(800));

      assertTrue(rounds >= 42);
    }
  }
}
