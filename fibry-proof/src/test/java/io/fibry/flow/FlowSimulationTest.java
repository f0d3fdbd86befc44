package io.fibry.flow;

import io.fibry.Seeds;
import io.fibry.testing.Variants;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Simulates batches, generators and map-reduces. */
@Tag("simulated")
class FlowSimulationTest {

  @Test
  void noMessageOfBatchIsLostOrHandledTwice() {
    Seeds.play("batches", 400, simulation -> {
      var episode = new BatchStressTest.Episode(simulation.random().nextLong(), Variants.SIMULATED);
      Seeds.delay(simulation);
      episode.play();
    });
  }

  @Test
  void generatorGivesAllElementsUntilItIsClosedOrFails() {
    Seeds.play("generators", 1_500, simulation -> {
      var flows = FlowsStressTest.of(Variants.SIMULATED);
      Seeds.delay(simulation);
      flows.generator(simulation.random().split(), "simulated");
      flows.awaitActorsAndCloseScope();
    });
  }

  @Test
  void mapReduceEndsWithAllResultsOrOneFailure() {
    Seeds.play("map-reduces", 1_500, simulation -> {
      var flows = FlowsStressTest.of(Variants.SIMULATED);
      Seeds.delay(simulation);
      flows.mapReduce(simulation.random().split(), "simulated");
      flows.awaitActorsAndCloseScope();
    });
  }

  @Test
  void mapReduceEndsDespiteFailedThreadStarts() {
    Seeds.play("map-reduces without threads", 1_000, simulation -> {
      var flows = FlowsStressTest.of(List.of("FIBER", "CALLER"));
      simulation.faults().withAllKinds().withFailedThreadStarts(0.2);
      flows.mapReduce(simulation.random().split(), "simulated");
      flows.awaitActorsAndCloseScope();
    });
  }
}
