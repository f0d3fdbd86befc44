package io.fibry.stress;

import io.fibry.Seeds;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Simulates the rounds of the engine, whose threads also yield between two accesses to shared data.
 */
@Tag("yield-points")
class YieldPointEngineTest {

  @Test
  void everyMessageHasOneOutcome() {
    Seeds.playWithYieldPoints("stress", 200, EngineRounds::stress);
  }

  @Test
  void senderResultsMatchHandledMessages() {
    Seeds.playWithYieldPoints("oracle", 100, EngineRounds::oracle);
  }

  @Test
  void actorGuaranteesHoldDespiteConcurrentEndOrCancel() {
    Seeds.playWithYieldPoints("promises", 1_000, EngineRounds::promises);
  }
}
