package io.fibry.durable;

import io.fibry.Seeds;
import org.junit.jupiter.api.Test;

/** Money that durable actors send to each other, on a machine that crashes, each round by a seed. */
class TransferSimulationTest {

  @Test
  void moneyStaysTheSame() {
    Seeds.play("transfers", 150, simulation -> new TransferRound(simulation).play());
  }
}
