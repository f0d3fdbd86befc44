package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.engine.jvm.EngineThreads;
import io.fibry.support.Child;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.jetbrains.kotlinx.lincheck.strategy.IncorrectResultsFailure;
import org.jetbrains.kotlinx.lincheck.strategy.LincheckFailure;
import org.jetbrains.kotlinx.lincheck.strategy.ManagedDeadlockFailure;
import org.jetbrains.kotlinx.lincheck.strategy.ManagedLivelockFailure;
import org.jetbrains.lincheck.LincheckAssertionError;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The proofs can fail: plain races are found, in the few schedules of an ordinary build. */
@Tag("lincheck")
class SchedulesTest {
  private static final int SCHEDULES = 40;

  private static final class Counter {
    int plain;
    volatile boolean taken;

    void add() {
      plain++;
    }

    boolean take() {
      if (taken) return false;
      return taken = true;
    }
  }

  private static void assertFound(Class<? extends LincheckFailure> kind, Runnable code) {
    var found = assertThrows(LincheckAssertionError.class, () -> Schedules.modelCheck(SCHEDULES, code));

    assertInstanceOf(kind, found.getFailure$lincheck());
  }

  private static void assertRace(Runnable code) {
    assertFound(IncorrectResultsFailure.class, code);
  }

  @Test
  void aLostUpdateIsFound() {
    assertRace(() -> {
      var counter = new Counter();
      var other = Schedules.start(counter::add);
      counter.add();
      Schedules.join(other);

      assertEquals(2, counter.plain);
    });
  }

  @Test
  void aCheckThatIsTooOldIsFound() {
    assertRace(() -> {
      var counter = new Counter();
      var taken = new boolean[2];
      var other = Schedules.start(() -> taken[0] = counter.take());
      taken[1] = counter.take();
      Schedules.join(other);

      assertTrue(taken[0] ^ taken[1]);
    });
  }

  /** Without a clock: no invocation has a limit of time. */
  @Test
  void deadlockIsFound() {
    assertFound(ManagedDeadlockFailure.class, () -> {
      var one = new Object();
      var two = new Object();
      var other = Schedules.start(() -> lock(two, one));
      lock(one, two);
      Schedules.join(other);
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
  void endlessLoopIsFound() {
    assertFound(ManagedLivelockFailure.class, () -> {
      var counter = new Counter();
      while (!counter.taken);
    });
  }

  @Test
  void codeWithoutARaceIsCorrect() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var counter = new Counter();
      Schedules.join(Schedules.start(counter::add));
      counter.add();

      assertEquals(2, counter.plain);
    });
  }

  /** Where no carrier is free, a fiber that a schedule starts makes the JDK start a carrier. */
  static final class StartsACarrier {
    public static void main(String[] args) {
      Schedules.modelCheck(1, () -> {}); // instruments the classes while the processors are free
      Thread.ofPlatform().daemon().start(() -> occupyAll());
      Schedules.modelCheck(3, () -> Schedules.join(Schedules.start(() -> EngineThreads.startFiber(() -> {}))));
      System.out.println("checked");
      System.exit(0);
    }

    private static void occupyAll() {
      for (long busy = 0;; LockSupport.parkNanos(100_000))
        for (; busy < carriers(); busy++) Thread.startVirtualThread(() -> {
          while (true) Thread.onSpinWait();
        });
    }

    private static long carriers() {
      return Thread.getAllStackTraces().keySet().stream()
          .filter(thread -> thread.getName().startsWith("ForkJoinPool-1-worker")).count();
    }
  }

  @Test
  void scheduleDoesNotWaitForACarrier() {
    try (var child = Child.java(List.of("-Djdk.virtualThreadScheduler.parallelism=16",
        "-XX:+EnableDynamicAgentLoading", "-XX:+IgnoreUnrecognizedVMOptions",
        "--sun-misc-unsafe-memory-access=allow", "-Xshare:off"), StartsACarrier.class)) {
      assertTrue(child.ended(0).endsWith("checked"), child.output());
    }
  }
}
