package io.fibry.engine.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorSystem;
import io.fibry.support.Patience;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.function.IntPredicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

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

  @Test
  void mostWaitsSpinIfTwoSpinsInThreeSucceed() {
    assertTrue(countSpins(WAITS, spin -> spin % 3 != 0) > WAITS * 9 / 10);
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
    var isAnswered = Patience.callOnFiber(() -> AnswerSpin.spin(request, Thread.currentThread(), LONG));

    gate.countDown();

    assertTrue(Patience.value(isAnswered));
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
