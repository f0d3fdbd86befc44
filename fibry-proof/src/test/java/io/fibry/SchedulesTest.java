package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.engine.jvm.EngineThreads;
import io.fibry.support.Child;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.jetbrains.kotlinx.lincheck.strategy.IncorrectResultsFailure;
import org.jetbrains.kotlinx.lincheck.strategy.LincheckFailure;
import org.jetbrains.kotlinx.lincheck.strategy.ManagedDeadlockFailure;
import org.jetbrains.kotlinx.lincheck.strategy.ManagedLivelockFailure;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that the model checker finds plain races within the few schedules of an ordinary build. */
@Tag("lincheck")
class SchedulesTest {
  private static final int SCHEDULES = 40;

  private static final class Counter {
    int count;
    volatile boolean isTaken;

    void add() {
      count++;
    }

    boolean take() {
      if (isTaken) return false;
      return isTaken = true;
    }
  }

  private static void assertFound(Class<? extends LincheckFailure> failureType, Runnable code) {
    Schedules.assertFinds(failureType, () -> Schedules.modelCheck(SCHEDULES, code));
  }

  private static void assertRace(Runnable code) {
    assertFound(IncorrectResultsFailure.class, code);
  }

  @Test
  void modelCheckFindsLostUpdate() {
    assertRace(() -> {
      var counter = new Counter();
      var thread = Schedules.start(counter::add);
      counter.add();
      Schedules.join(thread);

      assertEquals(2, counter.count);
    });
  }

  @Test
  void modelCheckFindsCheckThenActRace() {
    assertRace(() -> {
      var counter = new Counter();
      var results = new boolean[2];
      var thread = Schedules.start(() -> results[0] = counter.take());
      results[1] = counter.take();
      Schedules.join(thread);

      assertTrue(results[0] ^ results[1]);
    });
  }

  /** The deadlock is found without a clock: the limit of an invocation is a day. */
  @Test
  void modelCheckFindsDeadlock() {
    assertFound(ManagedDeadlockFailure.class, () -> {
      var firstLock = new Object();
      var secondLock = new Object();
      var thread = Schedules.start(() -> lock(secondLock, firstLock));
      lock(firstLock, secondLock);
      Schedules.join(thread);
    });
  }

  private static void lock(Object first, Object second) {
    synchronized (first) {
      synchronized (second) {
        first.notifyAll();
      }
    }
  }

  @Test
  void modelCheckFindsEndlessLoop() {
    assertFound(ManagedLivelockFailure.class, () -> {
      var counter = new Counter();
      while (!counter.isTaken);
    });
  }

  @Test
  void modelCheckOfCodeWithoutRacePasses() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var counter = new Counter();
      Schedules.join(Schedules.start(counter::add));
      counter.add();

      assertEquals(2, counter.count);
    });
  }

  /** A program in which a fiber makes the JDK start a carrier, because no carrier is free. */
  static final class CarrierStarter {
    public static void main(String[] args) {
      Schedules.modelCheck(1, () -> {}); // instruments the classes while the processors are free
      Thread.ofPlatform().daemon().start(() -> occupyAll());
      Schedules.modelCheck(3, () -> Schedules.join(Schedules.start(() -> EngineThreads.startFiber(() -> {}))));
      System.out.println("checked");
      System.exit(0);
    }

    private static void occupyAll() {
      for (long started = 0;; LockSupport.parkNanos(100_000))
        for (; started < carriers(); started++) Thread.startVirtualThread(() -> {
          while (true) Thread.onSpinWait();
        });
    }

    private static long carriers() {
      return Thread.getAllStackTraces().keySet().stream()
          .filter(thread -> thread.getName().startsWith("ForkJoinPool-1-worker")).count();
    }
  }

  @Test
  void modelCheckDoesNotWaitForCarrierThatFiberStarts() {
    try (var child = Child.java(List.of("-Djdk.virtualThreadScheduler.parallelism=16",
        "-XX:+EnableDynamicAgentLoading", "-XX:+IgnoreUnrecognizedVMOptions",
        "--sun-misc-unsafe-memory-access=allow", "-Xshare:off"), CarrierStarter.class)) {
      assertTrue(child.awaitExit(0).endsWith("checked"), child.output());
    }
  }
}
