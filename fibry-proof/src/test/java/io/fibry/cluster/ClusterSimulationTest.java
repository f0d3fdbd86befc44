package io.fibry.cluster;

import io.fibry.Seeds;
import org.junit.jupiter.api.Test;

/** Nodes of a cluster that crash, leave, and are cut off, each round by a seed. */
class ClusterSimulationTest {

  @Test
  void whatIsPromisedHoldsThoughNodesCrashAndAreCutOff() {
    Seeds.play("cluster", 100, simulation -> new ClusterRound(simulation).play());
  }
}
