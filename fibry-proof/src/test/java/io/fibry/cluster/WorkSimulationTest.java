package io.fibry.cluster;

import io.fibry.Seeds;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Work queues whose nodes crash, are paused and are cut off, each round by a seed. Planted faults:
 * {@code docs/benchmarks/simulation.md}.
 */
@Tag("simulated")
class WorkSimulationTest {

  @Test
  void storedWorkIsDoneEvenWhenNodesEnd() {
    Seeds.play("work", 60, simulation -> new WorkRound(simulation).play());
  }
}
