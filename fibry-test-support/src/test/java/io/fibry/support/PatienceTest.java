package io.fibry.support;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class PatienceTest {
  /**
   * Runs a program that must fail, in a JVM whose patience is one second. Returns the output of the
   * program.
   */
  private static String outputOfFailingProgram(Class<?> main) {
    try (var child = Child.java(List.of("-Dfibry.patience=1"), main)) {
      return child.awaitExit(1);
    }
  }

  static final class NeverTrue {
    public static void main(String[] args) {
      Patience.eventually("the door stayed shut", () -> false);
    }
  }

  static final class RemainsFalse {
    public static void main(String[] args) {
      System.exit(Patience.comesTrue(() -> false) ? 0 : 1);
    }
  }

  static final class NeverSucceeds {
    public static void main(String[] args) {
      Patience.valueDespite(IllegalStateException.class, () -> {
        throw new IllegalStateException("still shut");
      });
    }
  }

  static final class WaitsForLatch {
    public static void main(String[] args) {
      Patience.await(new CountDownLatch(3));
    }
  }

  static final class ChangesCount {
    public static void main(String[] args) {
      var count = new AtomicInteger();
      // takes some seconds, which is longer than the patience
      Patience.progress(() -> count.get() / 40, () -> count.getAndIncrement() == 1_600);
    }
  }

  static final class ConstantCount {
    public static void main(String[] args) {
      Patience.progress("the count stays 7", () -> 7, () -> false);
    }
  }

  @Test
  void failedWaitNamesExpectationAndObservation() {
    var text = outputOfFailingProgram(NeverTrue.class);

    assertTrue(text.contains("the door stayed shut, within 1 s at the speed of this machine"), text);
    assertTrue(text.contains("threads run code of Fibry"), text);
    assertTrue(outputOfFailingProgram(WaitsForLatch.class).contains("3 more counts are missing"));
  }

  @Test
  void resultSaysWhetherConditionBecameTrue() {
    assertTrue(Patience.comesTrue(() -> true));
    assertEquals("", outputOfFailingProgram(RemainsFalse.class));
  }

  @Test
  void valueDespiteRepeatsCallOnlyAfterExpectedFailure() {
    var calls = new AtomicInteger();

    assertEquals(3, Patience.valueDespite(IllegalStateException.class, () -> {
      if (calls.incrementAndGet() < 3) throw new IllegalStateException("not yet");
      return calls.get();
    }));

    var error = assertThrows(AssertionError.class, () -> Patience.valueDespite(IllegalStateException.class, () -> {
      throw new IllegalArgumentException("other");
    }));
    assertEquals("other", error.getCause().getMessage());
    var text = outputOfFailingProgram(NeverSucceeds.class);
    assertTrue(text.contains("Suppressed: java.lang.IllegalStateException: still shut"), text);
  }

  @Test
  void waitContinuesWhileItsCountChanges() {
    try (var child = Child.java(List.of("-Dfibry.patience=1"), ChangesCount.class)) {
      child.awaitExit(0);
    }
    assertTrue(outputOfFailingProgram(ConstantCount.class).contains("the count stays 7"));
  }

  @Test
  void waitsReturnOnceTheirConditionIsTrue() throws InterruptedException {
    var latch = new CountDownLatch(1);
    var thread = Patience.startFiber(() -> Patience.await(latch));
    latch.countDown();
    Patience.awaitEnd(thread);
    var queue = new LinkedBlockingQueue<>(List.of("next"));
    assertEquals("next", Patience.nextOf(queue));
    var semaphore = new Semaphore(2);
    Patience.acquire(semaphore, 2);
    assertFalse(semaphore.tryAcquire());
    assertEquals(5, Patience.value(CompletableFuture.completedFuture(5)));
    var failed = CompletableFuture.failedFuture(new IllegalStateException("broken"));
    assertEquals("broken", Patience.failure(failed).getMessage());
  }

  @Test
  void awaitEndFailsWithFailureOfFiber() {
    var cause = new IllegalStateException("broken");
    var fiber = Patience.startFiber(() -> {
      throw cause;
    });

    assertSame(cause, assertThrows(AssertionError.class, () -> Patience.awaitEnd(fiber)).getCause());
    Patience.awaitEnd(Patience.startFiber(() -> {
      throw new CancellationException("interrupted");
    }));
  }

  @Test
  void unexpectedOutcomeOfFutureFailsAtOnce() {
    var failed = CompletableFuture.failedFuture(new IllegalStateException("broken"));

    assertTrue(assertThrows(AssertionError.class, () -> Patience.value(failed)).getMessage().contains("broken"));
    var done = CompletableFuture.completedFuture(5);
    assertTrue(assertThrows(AssertionError.class, () -> Patience.failure(done)).getMessage().contains("value 5"));
  }
}
