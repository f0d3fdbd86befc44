package io.fibry.durable;

import io.fibry.Seeds;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Simulates durable actors that send money to each other while their machine crashes. */
@Tag("simulated")
class TransferSimulationTest {

  @Test
  void totalMoneyStaysConstantAcrossCrashes() {
    Seeds.play("transfers", 60, simulation -> new TransferRound(simulation).play());
  }
}
