package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Descriptors;
import io.fibry.testing.Promise;
import io.fibry.testing.StressRuns;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/**
 * Tests that limits of bodies hold for all kinds of clients and handlers, and that honest clients
 * get responses.
 */
class BodyLimitsFuzzTest {
  private static final int ROUNDS = Integer.getInteger("fibry.rounds", 30);

  @Promise({"27.3", "27.4", "27.5", "27.6", "27.7"})
  @Test
  void bodyLimitsHoldForRandomClients() {
    long seed = StressRuns.seed();
    System.out.println("limits of bodies: -Dfibry.seed=" + seed);
    long descriptorsBefore = 0;
    int answeredCount = 0;
    int refusedCount = 0;
    try (var logged = new Logged()) {
      for (int i = 0; i < ROUNDS; i++) {
        try (var round = new BodyRound(new SplittableRandom(seed + i))) {
          round.run();
          answeredCount += round.answeredClients;
          refusedCount += round.refusedAttempts;
        } catch (Exception | AssertionError failure) {
          throw new AssertionError("-Dfibry.seed=" + (seed + i) + " -Dfibry.rounds=1: " + failure.getMessage(),
              failure);
        }
        // the first round makes the JDK open some sockets, which stay open
        if (i == 0) descriptorsBefore = Descriptors.countOpenIfShown();
      }
      var problems = logged.entriesAbout("io.fibry.net.").lines()
          .filter(line -> line.contains("ERROR") || line.contains("WARN"))
          .filter(line -> !line.contains(" of POST /FAILS was answered "))
          .filter(line -> !line.matches(".* requests? with 503\\b.*")); // rounds fill their server
      assertEquals(List.of(), problems.toList(), "seed " + seed);
    }
    System.out.println(answeredCount + " clients were answered, after " + refusedCount + " refusals");
    long maxDescriptors = descriptorsBefore;
    Patience.eventually("descriptors stay open", () -> Descriptors.countOpenIfShown() <= maxDescriptors);
    assertTrue(answeredCount >= 4 * ROUNDS, "too few responses: " + answeredCount);
  }
}
