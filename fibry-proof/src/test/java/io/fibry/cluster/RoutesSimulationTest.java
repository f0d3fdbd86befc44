package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Seeds;
import io.fibry.simulation.Simulation;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Keys that move between nodes whose servers learn late of subscriptions, each round by a seed. */
@Tag("simulated")
class RoutesSimulationTest {

  @Test
  void movesOverRoutesLoseNothingAndDoNothingTwice() {
    Seeds.play("routes", 45, simulation -> assertEquals(List.of(),
        new RoutesRound(simulation, RoutesRound.CALM.dividedBy(2)).play()));
  }

  /** The server of the node that leaves may not know the way to the new node yet. */
  @Test
  void nodeThatLeavesAsAnotherJoinsHandsOverAll() {
    Seeds.play("exchanges of nodes", 45, simulation -> assertEquals(List.of(),
        new RoutesRound(simulation, RoutesRound.CALM.dividedBy(2)).playExchanges()));
  }

  /**
   * Where servers learn later than a node passes messages on, the round finds what is lost; then
   * the other runs do nothing.
   */
  @Test
  void messagesAreLostWhereServersLearnTooLate() {
    var faults = new ArrayList<String>();
    Simulation.run(options -> options.withSeeds(300), simulation -> {
      if (faults.isEmpty()) faults.addAll(new RoutesRound(simulation, RoutesRound.CALM.multipliedBy(10)).play());
    });
    assertTrue(!faults.isEmpty());
  }
}
