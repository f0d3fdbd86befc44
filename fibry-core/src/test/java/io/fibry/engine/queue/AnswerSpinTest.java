package io.fibry.engine.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorSystem;
import io.fibry.support.Patience;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntPredicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AnswerSpinTest {
  private static final int WAITS = 100_000;
  private static final long LONG = Patience.LONG.toNanos();

  private final CountDownLatch gate = new CountDownLatch(1); // at which the handler waits
  private short estimate;

  @AfterEach
  void openGate() {
    gate.countDown();
  }

  private int countSpins(int waits, IntPredicate isAnswered) {
    int spins = 0;
    for (int i = 0; i < waits; i++) {
      if (!AnswerSpin.isDue(estimate)) estimate--;
      else estimate = AnswerSpin.afterSpin(estimate, isAnswered.test(spins++));
    }
    return spins;
  }

  @Test
  void eachWaitSpinsForQuickActor() {
    assertEquals(WAITS, countSpins(WAITS, spin -> true));
  }

  @Test
  void oneWaitIn513SpinsForSlowActor() {
    countSpins(WAITS, spin -> false);

    assertEquals(10, countSpins(10 * 513, spin -> false));
  }

  @Test
  void fewWaitsSpinIfOneSpinInThreeSucceeds() {
    assertTrue(countSpins(WAITS, spin -> spin % 3 == 0) < WAITS / 100);
  }

  /** The share of the waits that spin, if spins succeed at random. */
  @ParameterizedTest
  @CsvSource({"90, 75, 90", "67, 7, 14", "33, 0, 1"})
  void shareOfSpinsFollowsRateOfSuccess(int successPercent, int minPercent, int maxPercent) {
    long seed = Long.getLong("fibry.seed", System.nanoTime());
    System.out.println("-Dfibry.seed=" + seed);
    var random = new Random(seed);

    int spins = countSpins(10 * WAITS, spin -> random.nextInt(100) < successPercent);

    int percent = spins / (WAITS / 10);
    assertTrue(percent >= minPercent && percent <= maxPercent, () -> percent + " % with -Dfibry.seed=" + seed);
  }

  @Test
  void eachWaitSpinsAgainSoonAfterActorBecomesQuick() {
    countSpins(WAITS, spin -> false);

    countSpins(600, spin -> true);

    assertEquals(WAITS, countSpins(WAITS, spin -> true));
  }

  private Future<?> unansweredRequest() {
    var actor = ActorSystem.anonymous().newActorWithReturn((Integer n) -> {
      gate.await();
      return n;
    });
    return actor.sendMessageReturn(1);
  }

  @Test
  void spinEndsWithAnswer() {
    var request = unansweredRequest();
    var isAnswered = new CompletableFuture<Boolean>();
    // no fiber: with one processor, it would keep the carrier from the handler
    Thread.ofPlatform().daemon()
        .start(() -> isAnswered.complete(AnswerSpin.spin(request, Thread.currentThread(), LONG)));

    gate.countDown();

    assertTrue(Patience.value(isAnswered));
  }

  /** A carrier that is awake, but busy, must not hold the request up. */
  @Test
  void askerWakesCarrierOnlyAfterSpinWithoutAnswer() {
    var wakeUps = new AtomicInteger();
    var spin = new AnswerSpin() {
      @Override
      void wakeCarrier() {
        wakeUps.incrementAndGet();
      }
    };

    spin.spinFor(CompletableFuture.completedFuture(1));
    assertEquals(List.of(0, 0), List.of(wakeUps.get(), (int) spin.estimate));
    spin.spinFor(unansweredRequest());

    assertEquals(1, wakeUps.get());
    assertTrue(spin.estimate > 0);
  }

  @Test
  void interruptEndsSpin() {
    var request = unansweredRequest();
    Thread.currentThread().interrupt();
    try {
      assertFalse(AnswerSpin.spin(request, Thread.currentThread(), Long.MAX_VALUE));
    } finally {
      assertTrue(Thread.interrupted());
    }
  }

  @Test
  void spinEndsWithoutAnswerAfterLimit() {
    assertFalse(AnswerSpin.spin(unansweredRequest(), Thread.currentThread(), 1));
  }
}
