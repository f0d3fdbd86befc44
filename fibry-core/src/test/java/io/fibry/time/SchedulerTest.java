package io.fibry.time;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Gate;
import io.fibry.Promise;
import io.fibry.StressHarness;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.Test;

/** The clock of the system. */
class SchedulerTest {
  private static final Duration SOON = Duration.ofMillis(1);

  private final Scheduler clock = Scheduler.system();

  @Promise("13.1")
  @Test
  void systemSchedulerHasSingleDaemonThread() throws Exception {
    var first = new CompletableFuture<Thread>();
    var second = new CompletableFuture<Thread>();

    clock.schedule(SOON, () -> first.complete(Thread.currentThread()));
    clock.schedule(SOON, () -> second.complete(Thread.currentThread()));

    assertSame(Scheduler.system(), clock);
    assertSame(Patience.value(first), Patience.value(second));
    assertTrue(first.join().isDaemon());
    assertEquals("fibry-timer", first.join().getName());
  }

  @Test
  void nothingRunsBeforeItsTime() throws Exception {
    var ran = new CompletableFuture<Long>();
    long before = clock.nanoTime();

    clock.schedule(Duration.ofMillis(20), () -> ran.complete(clock.nanoTime()));

    assertTrue(Patience.value(ran) - before >= 20_000_000);
  }

  @Test
  void taskDoesNotSeeInterruptOfPreviousTask() throws Exception {
    var seen = new CompletableFuture<Boolean>();

    clock.schedule(Duration.ZERO, () -> { // so that the thread does not sleep between the two
      clock.schedule(Duration.ZERO, () -> Thread.currentThread().interrupt());
      clock.schedule(Duration.ZERO, () -> seen.complete(Thread.currentThread().isInterrupted()));
    });

    assertFalse(Patience.value(seen));
  }

  @Test
  void aFixedRateGoesOnUntilCancelled() throws Exception {
    var ticks = new Semaphore(0);

    var timer = clock.scheduleAtFixedRate(SOON, SOON, ticks::release);

    Patience.acquired(ticks, 5);
    assertTrue(timer.cancel());
    assertFalse(timer.cancel());
  }

  @Test
  void aFixedDelayGoesOnAlsoAfterAFailure() throws Exception {
    var ticks = new CountDownLatch(3);

    var timer = clock.scheduleWithFixedDelay(SOON, SOON, () -> {
      ticks.countDown();
      throw new IllegalStateException("made up, for a test");
    });

    Patience.await(ticks);
    timer.cancel();
  }

  @Test
  void aCancelledTaskDoesNotRun() {
    var own = new SystemScheduler();
    var gate = new Gate(); // holds the thread that would run it
    own.schedule(Duration.ZERO, gate::passDeaf);
    Patience.await(gate.entered);
    var ran = new CompletableFuture<Boolean>();
    var timer = own.schedule(Duration.ZERO, () -> ran.complete(true));

    assertTrue(timer.cancel());
    var later = new CountDownLatch(1);
    own.schedule(Duration.ZERO, later::countDown);
    gate.open();

    Patience.await(later);
    assertFalse(ran.isDone());
  }

  @Test
  void nothingThatWasCancelledStays() throws Exception {
    long seed = StressHarness.seed();
    System.out.println("cancelled timers: -Dfibry.seed=" + seed);
    var random = new SplittableRandom(seed);
    var own = new SystemScheduler();

    try (var both = Executors.newFixedThreadPool(2)) {
      for (int i = 0; i < 2; i++) {
        var mine = random.split();
        both.execute(() -> setAndCancel(own, mine));
      }
    }

    var left = new CompletableFuture<Integer>();
    own.schedule(Duration.ZERO, () -> left.complete(own.queue.size()));
    assertEquals(0, Patience.value(left), "seed " + seed);
  }

  private static void setAndCancel(Scheduler clock, SplittableRandom random) {
    for (int i = 0; i < 100_000; i++) {
      var timer = clock.scheduleAtFixedRate(Duration.ofHours(random.nextInt(2)), Duration.ofHours(1), () -> {});
      for (int turns = random.nextInt(200); turns > 0; turns--) Thread.onSpinWait();
      timer.cancel();
    }
  }

  @Test
  void timesThatMakeNoSenseAreRefused() {
    assertThrows(IllegalArgumentException.class, () -> clock.schedule(Duration.ofSeconds(-1), () -> {}));
    assertThrows(IllegalArgumentException.class, () -> clock.scheduleAtFixedRate(SOON, Duration.ZERO, () -> {}));
    assertThrows(NullPointerException.class, () -> clock.scheduleWithFixedDelay(SOON, SOON, null));
  }
}
