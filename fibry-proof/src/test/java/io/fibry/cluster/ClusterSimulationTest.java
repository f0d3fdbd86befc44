package io.fibry.cluster;

import io.fibry.Seeds;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Simulates the nodes of a cluster on a bad network. */
@Tag("simulated")
class ClusterSimulationTest {

  @Test
  void senderOutcomesMatchHandledMessagesOnBadNetwork() {
    Seeds.play("cluster", 75, simulation -> new ClusterRound(simulation).play());
  }

  @Test
  void nodeCutOffForHoursLearnsWhichNodesHaveEnded() {
    Seeds.play("long cuts", 36, simulation -> new LongCutRound(simulation).play());
  }
}
