package io.fibry.cluster;

import io.fibry.Seeds;
import org.junit.jupiter.api.Test;

/** Nodes of a cluster on a bad network, each round by a seed. */
class ClusterSimulationTest {

  @Test
  void whatIsPromisedHoldsOnABadNetwork() {
    Seeds.play("cluster", 75, simulation -> new ClusterRound(simulation).play());
  }
}
