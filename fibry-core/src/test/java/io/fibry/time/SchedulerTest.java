package io.fibry.time;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Promise;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The clock of the system. */
class SchedulerTest {
  private static final Duration SOON = Duration.ofMillis(1);

  private final Scheduler clock = Scheduler.system();

  @Promise("13.1")
  @Test
  void itIsOneWithOneDaemonThread() throws Exception {
    var first = new CompletableFuture<Thread>();
    var second = new CompletableFuture<Thread>();

    clock.after(SOON, () -> first.complete(Thread.currentThread()));
    clock.after(SOON, () -> second.complete(Thread.currentThread()));

    assertSame(Scheduler.system(), clock);
    assertSame(first.get(10, TimeUnit.SECONDS), second.get(10, TimeUnit.SECONDS));
    assertTrue(first.join().isDaemon());
    assertEquals("fibry-timer", first.join().getName());
  }

  @Test
  void nothingRunsBeforeItsTime() throws Exception {
    var ran = new CompletableFuture<Long>();
    long before = clock.nanoTime();

    clock.after(Duration.ofMillis(20), () -> ran.complete(clock.nanoTime()));

    assertTrue(ran.get(10, TimeUnit.SECONDS) - before >= 20_000_000);
  }

  @Test
  void aTaskDoesNotSeeTheInterruptOfTheOneBefore() throws Exception {
    var seen = new CompletableFuture<Boolean>();

    clock.after(Duration.ZERO, () -> { // so that the thread does not sleep between the two
      clock.after(Duration.ZERO, () -> Thread.currentThread().interrupt());
      clock.after(Duration.ZERO, () -> seen.complete(Thread.currentThread().isInterrupted()));
    });

    assertFalse(seen.get(10, TimeUnit.SECONDS));
  }

  @Test
  void aFixedRateGoesOnUntilCancelled() throws Exception {
    var ticks = new Semaphore(0);

    var timer = clock.atFixedRate(SOON, SOON, ticks::release);

    assertTrue(ticks.tryAcquire(5, 10, TimeUnit.SECONDS));
    assertTrue(timer.cancel());
    assertFalse(timer.cancel());
  }

  @Test
  void aFixedDelayGoesOnAlsoAfterAFailure() throws Exception {
    var ticks = new CountDownLatch(3);

    var timer = clock.withFixedDelay(SOON, SOON, () -> {
      ticks.countDown();
      throw new IllegalStateException("made up, for a test");
    });

    assertTrue(ticks.await(10, TimeUnit.SECONDS));
    timer.cancel();
  }

  @Test
  void aCancelledTaskDoesNotRun() throws Exception {
    var ran = new CompletableFuture<Boolean>();
    var timer = clock.after(Duration.ofMillis(100), () -> ran.complete(true));

    assertTrue(timer.cancel());
    var later = new CountDownLatch(1);
    clock.after(Duration.ofMillis(150), later::countDown);

    assertTrue(later.await(10, TimeUnit.SECONDS));
    assertFalse(ran.isDone());
  }

  @Test
  void nothingThatWasCancelledStays() throws Exception {
    long seed = Long.getLong("fibry.seed", System.nanoTime());
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
    own.after(Duration.ZERO, () -> left.complete(own.queue.size()));
    assertEquals(0, left.get(10, TimeUnit.SECONDS), "seed " + seed);
  }

  private static void setAndCancel(Scheduler clock, SplittableRandom random) {
    for (int i = 0; i < 100_000; i++) {
      var timer = clock.atFixedRate(Duration.ofHours(random.nextInt(2)), Duration.ofHours(1), () -> {});
      for (int turns = random.nextInt(200); turns > 0; turns--) Thread.onSpinWait();
      timer.cancel();
    }
  }

  @Test
  void timesThatMakeNoSenseAreRefused() {
    assertThrows(IllegalArgumentException.class, () -> clock.after(Duration.ofSeconds(-1), () -> {}));
    assertThrows(IllegalArgumentException.class, () -> clock.atFixedRate(SOON, Duration.ZERO, () -> {}));
    assertThrows(NullPointerException.class, () -> clock.withFixedDelay(SOON, SOON, null));
  }
}
