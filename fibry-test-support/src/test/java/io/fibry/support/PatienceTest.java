package io.fibry.support;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class PatienceTest {
  /** The patience of one second: it is a constant of the JVM. */
  private static String failureInAJvm(Class<?> main) {
    try (var child = Child.java(List.of("-Dfibry.patience=1"), main)) {
      return child.ended(1);
    }
  }

  static final class NeverTrue {
    public static void main(String[] args) {
      Patience.eventually("the door stayed shut", () -> false);
    }
  }

  static final class ComesToNothing {
    public static void main(String[] args) {
      System.exit(Patience.comesTrue(() -> false) ? 0 : 1);
    }
  }

  static final class Stuck {
    public static void main(String[] args) {
      Patience.await(new CountDownLatch(3));
    }
  }

  static final class Grows {
    public static void main(String[] args) {
      var count = new AtomicInteger();
      Patience.progress(() -> count.get() / 40, () -> count.getAndIncrement() == 1_600); // some seconds
    }
  }

  static final class GrowsNoMore {
    public static void main(String[] args) {
      Patience.progress("it stopped at 7", () -> 7, () -> false);
    }
  }

  @Test
  void failedWaitNamesExpectationAndObservation() {
    var text = failureInAJvm(NeverTrue.class);

    assertTrue(text.contains("the door stayed shut, after 1 s at the speed of this machine"), text);
    assertTrue(text.contains("threads run code of Fibry"), text);
    assertTrue(failureInAJvm(Stuck.class).contains("3 are left"));
  }

  @Test
  void waitForAnOutcomeReturnsWhetherTheFactCameTrue() {
    assertTrue(Patience.comesTrue(() -> true));
    assertEquals("", failureInAJvm(ComesToNothing.class));
  }

  @Test
  void waitLastsAsLongAsItsCountChanges() {
    try (var child = Child.java(List.of("-Dfibry.patience=1"), Grows.class)) {
      child.ended(0);
    }
    assertTrue(failureInAJvm(GrowsNoMore.class).contains("it stopped at 7"));
  }

  @Test
  void waitsReturnAsSoonAsTheFactIsTrue() throws InterruptedException {
    var latch = new CountDownLatch(1);
    var thread = Patience.startFiber(() -> Patience.await(latch));
    latch.countDown();
    Patience.joined(thread);
    var queue = new LinkedBlockingQueue<>(List.of("next"));
    assertEquals("next", Patience.next(queue));
    var semaphore = new Semaphore(2);
    Patience.acquired(semaphore, 2);
    assertFalse(semaphore.tryAcquire());
    assertEquals(5, Patience.value(CompletableFuture.completedFuture(5)));
    var failed = CompletableFuture.failedFuture(new IllegalStateException("broken"));
    assertEquals("broken", Patience.failure(failed).getMessage());
  }

  @Test
  void futureWithTheWrongOutcomeIsToldAtOnce() {
    var failed = CompletableFuture.failedFuture(new IllegalStateException("broken"));

    assertTrue(assertThrows(AssertionError.class, () -> Patience.value(failed)).getMessage().contains("broken"));
    var done = CompletableFuture.completedFuture(5);
    assertTrue(assertThrows(AssertionError.class, () -> Patience.failure(done)).getMessage().contains("value 5"));
  }
}
