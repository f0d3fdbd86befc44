package io.fibry.flow;

import io.fibry.Seeds;
import io.fibry.Variants;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Batches, generators and map-reduces, each round in an order that a seed decides. */
@Tag("simulated")
class FlowSimulationTest {

  @Test
  void noMessageIsForgottenOrHandledTwice() {
    Seeds.play("batches", 400, simulation -> {
      var episode = new BatchStressTest.Episode(simulation.random().nextLong(), Variants.SIMULATED);
      Seeds.delay(simulation);
      episode.play();
    });
  }

  @Test
  void aGeneratorGivesAllUntilItIsClosedOrFails() {
    Seeds.play("generators", 1_500, simulation -> {
      var flows = FlowsStressTest.of(Variants.SIMULATED);
      Seeds.delay(simulation);
      flows.generator(simulation.random().split(), "simulated");
      flows.nothingIsLeft();
    });
  }

  @Test
  void aMapReduceEndsWithAllOrOneFailure() {
    Seeds.play("map-reduces", 1_500, simulation -> {
      var flows = FlowsStressTest.of(Variants.SIMULATED);
      Seeds.delay(simulation);
      flows.mapReduce(simulation.random().split(), "simulated");
      flows.nothingIsLeft();
    });
  }

  @Test
  void aMapReduceEndsThoughNoThreadIsToBeHad() {
    Seeds.play("map-reduces without threads", 1_000, simulation -> {
      var flows = FlowsStressTest.of(List.of("FIBER", "CALLER"));
      simulation.faults().withAllKinds().withFailedThreadStarts(0.2);
      flows.mapReduce(simulation.random().split(), "simulated");
      flows.nothingIsLeft();
    });
  }
}
