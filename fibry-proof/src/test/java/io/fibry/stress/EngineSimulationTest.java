package io.fibry.stress;

import io.fibry.Seeds;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Simulates the rounds of the engine's stress tests. */
@Tag("simulated")
class EngineSimulationTest {

  @Test
  void scopeCountsMatchSentMessagesDespiteFailuresAndKills() {
    Seeds.play("chaos", 150, EngineRounds::chaos);
  }

  @Test
  void everyMessageHasOneOutcome() {
    Seeds.play("stress", 1_500, EngineRounds::stress);
  }

  @Test
  void senderResultsMatchHandledMessages() {
    Seeds.play("oracle", 1_500, EngineRounds::oracle);
  }

  @Test
  void noRightToRunIsLostDespiteFailedThreadStarts() {
    Seeds.play("threadless", 1_500, EngineRounds::threadless);
  }
}
