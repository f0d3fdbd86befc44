package io.fibry.pool;

import io.fibry.Seeds;
import io.fibry.simulation.Simulation;
import io.fibry.testing.Variants;

/** The rounds of pools and entities, as programs for a simulation. */
public final class PoolRounds {
  private PoolRounds() {}

  public static void pools(Simulation simulation) throws Exception {
    var round = new PoolStressRound(simulation.random().split(), Variants.SIMULATED);
    Seeds.disturb(simulation);
    round.play();
  }

  public static void entities(Simulation simulation) throws Exception {
    var round = new EntitiesRound(simulation.random().split());
    Seeds.disturb(simulation);
    round.play();
  }
}
