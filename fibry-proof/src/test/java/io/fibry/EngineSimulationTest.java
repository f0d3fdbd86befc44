package io.fibry;

import java.util.List;
import org.junit.jupiter.api.Test;

/** The rounds of the engine's stress tests, each in an order that a seed decides. */
class EngineSimulationTest {
  private static final List<Strategy> STRATEGIES = Variants.SIMULATED.stream().map(Variants.STRATEGIES::get).toList();

  @Test
  void whateverHappensTheAccountsAddUp() {
    Seeds.play("chaos", 150, simulation -> {
      var episode = new ChaosEpisode(simulation.random().split(), STRATEGIES);
      Seeds.disturb(simulation);
      episode.play();
    });
  }

  @Test
  void everyMessageHasOneOutcome() {
    Seeds.play("stress", 1_500, simulation -> {
      var random = simulation.random().split();
      var box = Seeds.any(random, List.of(StressRound.Box.values()));
      var round = new StressRound(random, Seeds.anyStrategy(random), box);
      Seeds.disturb(simulation);
      round.play();
    });
  }

  @Test
  void whatSendersAreToldIsWhatWasDone() {
    Seeds.play("oracle", 1_500, simulation -> {
      var round = new OracleRound(simulation.random().split());
      Seeds.disturb(simulation);
      round.play();
    });
  }
}
