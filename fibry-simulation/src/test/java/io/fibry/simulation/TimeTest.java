package io.fibry.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

class TimeTest {

  private static void simulate(Simulation.Program program) {
    Simulation.run(options -> options.withSeeds(20), program);
  }

  @Test
  @Promise("29.4")
  void timeAdvancesOnlyWhenAllThreadsWait() {
    simulate(sim -> {
      long start = System.nanoTime();
      for (int i = 0; i < 500; i++) sim.yieldPoint();
      assertEquals(start, System.nanoTime());

      Thread.sleep(Duration.ofDays(1));
      assertEquals(Duration.ofDays(1).toNanos(), System.nanoTime() - start);
      assertEquals(Duration.ofDays(1), sim.time());
    });
  }

  @Test
  void simulatedWallClockStartsAtBeginOfYear2026() {
    simulate(sim -> {
      assertEquals(Instant.parse("2026-01-01T00:00:00Z"), Instant.now());
      Thread.sleep(1_500);
      assertEquals(Instant.parse("2026-01-01T00:00:01.500Z"), Instant.now());
      assertEquals(Instant.now().toEpochMilli(), System.currentTimeMillis());
    });
  }

  @Test
  @Promise("29.5")
  void allKindsOfWaitsFollowSimulatedClock() {
    simulate(sim -> {
      long start = System.nanoTime();
      Thread.sleep(Duration.ofHours(1));
      assertEquals(1, Duration.ofNanos(System.nanoTime() - start).toHours());

      assertEquals(false, new CountDownLatch(1).await(1, TimeUnit.HOURS));
      assertEquals(2, Duration.ofNanos(System.nanoTime() - start).toHours());

      var completed = new CompletableFuture<String>().completeOnTimeout("late", 1, TimeUnit.HOURS);
      assertEquals("late", completed.join());
      assertEquals(3, Duration.ofNanos(System.nanoTime() - start).toHours());

      var timedOut = new CompletableFuture<String>().orTimeout(1, TimeUnit.HOURS).handle((value, failure) -> failure);
      assertEquals(TimeoutException.class, timedOut.join().getClass());
      assertEquals(4, Duration.ofNanos(System.nanoTime() - start).toHours());

      try (var timer = Executors.newScheduledThreadPool(1)) {
        timer.schedule(() -> {}, 1, TimeUnit.HOURS).get();
      }
      assertEquals(5, Duration.ofNanos(System.nanoTime() - start).toHours());
    });
  }

  /** Before Java 24, a wait in a monitor holds its carrier, and the run fails. */
  @EnabledForJreRange(min = JRE.JAVA_24)
  @Test
  void monitorWaitFollowsSimulatedClock() {
    simulate(sim -> {
      var monitor = new Object();
      synchronized (monitor) {
        monitor.wait(3_600_000);
      }
      assertEquals(Duration.ofHours(1), sim.time());
    });
  }

  @Test
  @Promise("29.5")
  void loopThatPollsClockUntilDeadlineTerminates() {
    simulate(sim -> {
      long end = System.nanoTime() + 1_000_000;
      while (System.nanoTime() < end) {
      }
    });
  }

  @Test
  @Promise("29.5")
  void loopThatYieldsUntilFlagIsSetTerminates() {
    simulate(sim -> {
      var isOver = new AtomicBoolean();
      sim.client("stopper", () -> {
        Thread.sleep(Duration.ofMinutes(1));
        isOver.set(true);
        return null;
      });
      while (!isOver.get()) Thread.yield();
    });
  }

  @Test
  void spinLoopEndsWhenAnotherClientSetsItsFlag() {
    simulate(sim -> {
      var isOver = new AtomicBoolean();
      sim.client("stopper", () -> {
        Thread.sleep(10);
        isOver.set(true);
        return null;
      });
      while (!isOver.get()) Thread.onSpinWait();
    });
  }

  @Test
  @Promise("29.5")
  void actorTimersFollowSimulatedClock() {
    simulate(sim -> {
      var ticks = new AtomicInteger();
      var clock = sim.scope().named("clock").newActor((String tick) -> ticks.incrementAndGet());
      clock.sendMessageEvery("tick", Duration.ofDays(1));
      Thread.sleep(Duration.ofDays(365).plusHours(1));
      assertTrue(ticks.get() == 365, () -> ticks + " days");
    });
  }
}
