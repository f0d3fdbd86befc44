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
  void timeStandsStillUnlessAllWait() {
    simulate(sim -> {
      long before = System.nanoTime();
      for (int i = 0; i < 500; i++) sim.yieldPoint();
      assertEquals(before, System.nanoTime());

      Thread.sleep(Duration.ofDays(1));
      assertEquals(Duration.ofDays(1).toNanos(), System.nanoTime() - before);
      assertEquals(Duration.ofDays(1), sim.time());
    });
  }

  @Test
  void theWallClockBeginsWithTheYear2026() {
    simulate(sim -> {
      assertEquals(Instant.parse("2026-01-01T00:00:00Z"), Instant.now());
      Thread.sleep(1_500);
      assertEquals(Instant.parse("2026-01-01T00:00:01.500Z"), Instant.now());
      assertEquals(Instant.now().toEpochMilli(), System.currentTimeMillis());
    });
  }

  @Test
  @Promise("29.5")
  void everyKindOfWaitFollowsTheClock() {
    simulate(sim -> {
      long begin = System.nanoTime();
      Thread.sleep(Duration.ofHours(1));
      assertEquals(1, Duration.ofNanos(System.nanoTime() - begin).toHours());

      assertEquals(false, new CountDownLatch(1).await(1, TimeUnit.HOURS));
      assertEquals(2, Duration.ofNanos(System.nanoTime() - begin).toHours());

      var late = new CompletableFuture<String>().completeOnTimeout("late", 1, TimeUnit.HOURS);
      assertEquals("late", late.join());
      assertEquals(3, Duration.ofNanos(System.nanoTime() - begin).toHours());

      var failed = new CompletableFuture<String>().orTimeout(1, TimeUnit.HOURS).handle((none, failure) -> failure);
      assertEquals(TimeoutException.class, failed.join().getClass());
      assertEquals(4, Duration.ofNanos(System.nanoTime() - begin).toHours());

      try (var timer = Executors.newScheduledThreadPool(1)) {
        timer.schedule(() -> {}, 1, TimeUnit.HOURS).get();
      }
      assertEquals(5, Duration.ofNanos(System.nanoTime() - begin).toHours());
    });
  }

  /** Before, such a wait holds its carrier, and fails the run. */
  @EnabledForJreRange(min = JRE.JAVA_24)
  @Test
  void aWaitInAMonitorFollowsTheClock() {
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
  void aLoopThatLooksAtTheClockEnds() {
    simulate(sim -> {
      long end = System.nanoTime() + 1_000_000;
      while (System.nanoTime() < end) {
      }
    });
  }

  @Test
  @Promise("29.5")
  void aLoopThatGivesWayEnds() {
    simulate(sim -> {
      var over = new AtomicBoolean();
      sim.client("late", () -> {
        Thread.sleep(Duration.ofMinutes(1));
        over.set(true);
        return null;
      });
      while (!over.get()) Thread.yield();
    });
  }

  @Test
  void aLoopThatSpinsEnds() {
    simulate(sim -> {
      var over = new AtomicBoolean();
      sim.client("late", () -> {
        Thread.sleep(10);
        over.set(true);
        return null;
      });
      while (!over.get()) Thread.onSpinWait();
    });
  }

  @Test
  @Promise("29.5")
  void timersOfActorsFollowTheClock() {
    simulate(sim -> {
      var ticks = new AtomicInteger();
      var clock = sim.scope().named("clock").newActor((String tick) -> ticks.incrementAndGet());
      clock.sendMessageEvery("tick", Duration.ofDays(1));
      Thread.sleep(Duration.ofDays(365).plusHours(1));
      assertTrue(ticks.get() == 365, () -> ticks + " days");
    });
  }
}
