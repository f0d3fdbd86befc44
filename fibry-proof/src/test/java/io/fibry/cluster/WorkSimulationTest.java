package io.fibry.cluster;

import io.fibry.Seeds;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Simulates work queues whose nodes crash, are paused and are cut off. The planted faults that this
 * simulation finds are listed in {@code docs/benchmarks/simulation.md}.
 */
@Tag("simulated")
class WorkSimulationTest {

  @Test
  void storedWorkIsDoneEvenWhenNodesEnd() {
    Seeds.play("work", 60, simulation -> new WorkRound(simulation).play());
  }
}
