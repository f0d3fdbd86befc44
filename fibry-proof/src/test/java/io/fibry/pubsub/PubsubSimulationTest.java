package io.fibry.pubsub;

import io.fibry.Seeds;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Simulates topics and shared values. */
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
  void subscribersGetValuesInOrderUpToLastValue() {
    Seeds.play("values", 200, simulation -> {
      var random = simulation.random().split();
      Seeds.delay(simulation);
      ObservableStressTest.playValues(random, Seeds.anyStrategy(random));
    });
  }

  @Test
  void subscribersGetValuesOfEachKeyInOrderUpToLastValue() {
    Seeds.play("maps", 200, simulation -> {
      var random = simulation.random().split();
      Seeds.delay(simulation);
      ObservableStressTest.playMaps(random, Seeds.anyStrategy(random));
    });
  }
}
