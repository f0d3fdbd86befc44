package io.fibry.cluster;

import io.fibry.Seeds;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Nodes of a cluster on a bad network, each round by a seed. */
@Tag("simulated")
class ClusterSimulationTest {

  @Test
  void clusterPromisesHoldOnBadNetwork() {
    Seeds.play("cluster", 75, simulation -> new ClusterRound(simulation).play());
  }
}
