package io.fibry.pool;

import io.fibry.Seeds;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Pools and entities, whose threads give way also between two accesses to what they share. */
@Tag("yield-points")
class YieldPointPoolTest {

  @Test
  void everyMessageHasOneOutcomeAndNoPoolDoesMoreAtOnceThanItMay() {
    Seeds.playFinely("pools", 120, PoolRounds::pools);
  }

  @Test
  void aKeyHasOneLifeAtATimeAndEachMessageIsHandledOnceInItsOrder() {
    Seeds.playFinely("entities", 300, PoolRounds::entities);
  }
}
