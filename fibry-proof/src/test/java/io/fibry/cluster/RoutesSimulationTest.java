package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Seeds;
import io.fibry.simulation.Simulation;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Moves keys between nodes whose servers know subscriptions only after a delay. */
@Tag("simulated")
class RoutesSimulationTest {
  /** The end of the error that a lost message causes. */
  private static final String LOST = " was handled 0 times";

  @Test
  void eachMessageToMovedKeyIsHandledOnce() {
    Seeds.play("routes", 45, simulation -> assertEquals(List.of(),
        new RoutesRound(simulation, RoutesRound.FORWARDING_TIME.dividedBy(2)).play()));
  }

  /** Covers a leaving node whose server may not yet know the subscription of the new node. */
  @Test
  void leavingNodeLosesNoMessageWhileNewNodeJoins() {
    Seeds.play("exchanges of nodes", 45, simulation -> assertEquals(List.of(),
        new RoutesRound(simulation, RoutesRound.FORWARDING_TIME.dividedBy(2)).playExchanges()));
  }

  /**
   * Checks that the round finds lost messages if servers learn of subscriptions only after nodes
   * have stopped forwarding. The runs after the first find do nothing.
   */
  @Test
  void simulationFindsMessagesLostByLateSubscriptions() {
    var errors = new ArrayList<String>();
    Simulation.run(options -> options.withSeeds(300), simulation -> {
      if (errors.stream().noneMatch(error -> error.endsWith(LOST)))
        errors.addAll(new RoutesRound(simulation, RoutesRound.FORWARDING_TIME.multipliedBy(10)).play());
    });
    assertTrue(errors.stream().anyMatch(error -> error.endsWith(LOST)), errors::toString);
  }
}
