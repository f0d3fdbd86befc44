package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Promise;
import io.fibry.StressHarness;
import io.fibry.io.Descriptors;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** The limits of bodies hold whatever clients and handlers do, and honest clients are answered. */
class BodyLimitsFuzzTest {
  private static final int ROUNDS = Integer.getInteger("fibry.rounds", 30);

  @Promise({"27.3", "27.4", "27.5", "27.6", "27.7"})
  @Test
  void limitsOfBodiesHoldAmongAnyClients() {
    long seed = StressHarness.seed();
    System.out.println("limits of bodies: -Dfibry.seed=" + seed);
    long before = 0;
    int answered = 0;
    int refused = 0;
    try (var logged = new Logged()) {
      for (int i = 0; i < ROUNDS; i++) {
        try (var round = new BodyRound(new SplittableRandom(seed + i))) {
          round.play();
          answered += round.answered;
          refused += round.refused;
        } catch (Exception | AssertionError failure) {
          throw new AssertionError("-Dfibry.seed=" + (seed + i) + " -Dfibry.rounds=1: " + failure.getMessage(),
              failure);
        }
        if (i == 0) before = Descriptors.openIfShown(); // the JDK opens some sockets once
      }
      assertEquals("", logged.text().lines().filter(line -> line.contains("ERROR") || line.contains("WARN"))
          .filter(line -> !line.contains(" of POST /FAILS was answered ")).reduce("", String::concat), "seed " + seed);
    }
    System.out.println(answered + " clients were answered, after " + refused + " refusals");
    long first = before;
    Patience.eventually("descriptors are left", () -> Descriptors.openIfShown() <= first);
    assertTrue(answered >= 4 * ROUNDS, "too few for a test: " + answered);
  }
}
