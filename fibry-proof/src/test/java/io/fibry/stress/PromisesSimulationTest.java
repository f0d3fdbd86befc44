package io.fibry.stress;

import io.fibry.Seeds;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Simulates rounds that check promises; the other rounds check the outcomes of messages. */
@Tag("simulated")
class PromisesSimulationTest {

  @Test
  void actorGuaranteesHoldDespiteConcurrentEndOrCancel() {
    Seeds.play("promises", 3_000, EngineRounds::promises);
  }
}
