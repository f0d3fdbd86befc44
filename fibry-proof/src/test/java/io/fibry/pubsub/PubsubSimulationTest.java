package io.fibry.pubsub;

import io.fibry.Seeds;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Topics and shared values, each round in an order that a seed decides. */
@Tag("simulated")
class PubsubSimulationTest {

  @Test
  void messagesToOpenSubscriptionArriveOnceInOrder() {
    Seeds.play("topics", 150, simulation -> {
      var random = simulation.random().split();
      Seeds.delay(simulation);
      new TopicStressTest().play(random, Seeds.anyStrategy(random));
    });
  }

  @Test
  void aValueIsToldInOrderAndTheLastAlways() {
    Seeds.play("values", 200, simulation -> {
      var random = simulation.random().split();
      Seeds.delay(simulation);
      SharedStressTest.values(random, Seeds.anyStrategy(random));
    });
  }

  @Test
  void aMapIsToldInTheOrderOfEachKeyAndTheLastAlways() {
    Seeds.play("maps", 200, simulation -> {
      var random = simulation.random().split();
      Seeds.delay(simulation);
      SharedStressTest.maps(random, Seeds.anyStrategy(random));
    });
  }
}
