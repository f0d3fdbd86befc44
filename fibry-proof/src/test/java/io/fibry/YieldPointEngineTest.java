package io.fibry;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The rounds of the engine; its threads give way also between two accesses to what they share. */
@Tag("yield-points")
class YieldPointEngineTest {

  @Test
  void everyMessageHasOneOutcome() {
    Seeds.playFinely("stress", 200, EngineRounds::stress);
  }

  @Test
  void senderResultsMatchHandledMessages() {
    Seeds.playFinely("oracle", 100, EngineRounds::oracle);
  }

  @Test
  void promisesAreKeptDespiteConcurrentEndCancelOrReplace() {
    Seeds.playFinely("promises", 1_000, EngineRounds::promises);
  }
}
