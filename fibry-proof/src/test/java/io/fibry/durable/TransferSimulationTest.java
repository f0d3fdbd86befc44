package io.fibry.durable;

import io.fibry.Seeds;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Durable actors that send money to each other while their machine crashes, by seeds. */
@Tag("simulated")
class TransferSimulationTest {

  @Test
  void moneyStaysTheSame() {
    Seeds.play("transfers", 60, simulation -> new TransferRound(simulation).play());
  }
}
