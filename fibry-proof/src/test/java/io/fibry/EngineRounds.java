package io.fibry;

import io.fibry.simulation.Simulation;
import java.util.List;

/** The rounds of the engine's stress tests, as programs that are simulated. */
public final class EngineRounds {
  private static final List<Strategy> STRATEGIES = Variants.SIMULATED.stream().map(Variants.STRATEGIES::get).toList();

  private EngineRounds() {}

  public static void chaos(Simulation simulation) throws Exception {
    var episode = new ChaosEpisode(simulation.random().split(), STRATEGIES);
    Seeds.disturb(simulation);
    episode.play();
  }

  public static void stress(Simulation simulation) throws Exception {
    var random = simulation.random().split();
    var box = Seeds.any(random, List.of(StressRound.Box.values()));
    var round = new StressRound(random, Seeds.anyStrategy(random), box);
    Seeds.disturb(simulation);
    round.play();
  }

  public static void oracle(Simulation simulation) throws Exception {
    var round = new OracleRound(simulation.random().split());
    Seeds.disturb(simulation);
    round.play();
  }

  public static void promises(Simulation simulation) throws Exception {
    new PromisesRound(simulation).play();
  }
}
