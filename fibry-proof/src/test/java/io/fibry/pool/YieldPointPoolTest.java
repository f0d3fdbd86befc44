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
  void keyHasOneIncarnationAtATimeAndHandlesMessagesOnceInOrder() {
    Seeds.playWithYieldPoints("entities", 300, PoolRounds::entities);
  }
}
