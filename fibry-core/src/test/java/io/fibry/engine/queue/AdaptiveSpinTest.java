package io.fibry.engine.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class AdaptiveSpinTest {
  private final AdaptiveSpin spin = new AdaptiveSpin();

  @Test
  void spinIsTriedOncePer33CallsAfterFourFailures() {
    int spins = 0;

    for (int i = 0; i < 4 + 10 * 33; i++) if (spin.mayStart()) {
      spins++;
      spin.record(false);
    }

    assertEquals(4 + 10, spins);
  }

  @Test
  void successResetsCountOfFailedSpins() {
    for (int i = 0; i < 3; i++) spin.record(false);

    spin.record(true);

    for (int i = 0; i < 3; i++) spin.record(false);
    assertTrue(spin.mayStart());
  }
}
