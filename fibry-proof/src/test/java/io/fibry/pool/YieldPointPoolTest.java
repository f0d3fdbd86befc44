package io.fibry.pool;

import io.fibry.Seeds;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Simulates pools and entities, whose threads also yield between two accesses to shared data. */
@Tag("yield-points")
class YieldPointPoolTest {

  @Test
  void poolsRespectLimitsAndGiveEachMessageOneOutcome() {
    Seeds.playWithYieldPoints("pools", 120, PoolRounds::pools);
  }

  @Test
  void perMessagePoolGivesEachMessageOneOutcome() {
    Seeds.playWithYieldPoints("pools per message", 300, PoolRounds::perMessage);
  }

  @Test
  void killedPoolPerMessageBeginsNoMessageAfterItsEnd() {
    Seeds.playWithYieldPoints("killed pools per message", 3_000, PoolRounds::killDuringSend);
  }

  @Test
  void keyHasOneIncarnationAtATimeAndHandlesMessagesOnceInOrder() {
    Seeds.playWithYieldPoints("entities", 300, PoolRounds::entities);
  }
}
