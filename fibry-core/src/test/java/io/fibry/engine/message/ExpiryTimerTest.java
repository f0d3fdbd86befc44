package io.fibry.engine.message;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Tests that the task of an {@link ExpiryTimer} runs at its limit, or not at all. */
class ExpiryTimerTest {
  private static final Duration SWEPT_LIMIT = Duration.ofMillis(120);
  private static final Duration SHORT_LIMIT = Duration.ofMillis(20);

  @Test
  void taskRunsAtLimitOfManualClock() {
    var clock = new ManualScheduler();
    var runs = new AtomicInteger();
    ExpiryTimer.start(clock, Duration.ofSeconds(1), runs::incrementAndGet);

    clock.advance(Duration.ofMillis(999));
    assertEquals(0, runs.get());
    clock.advance(Duration.ofMillis(1));
    assertEquals(1, runs.get());
  }

  @Test
  void taskRunsAfterShortAndLongLimit() {
    for (var limit : new Duration[] {SHORT_LIMIT, SWEPT_LIMIT}) {
      var ended = new CompletableFuture<Long>();
      long begin = System.nanoTime();
      ExpiryTimer.start(Scheduler.system(), limit, () -> ended.complete(System.nanoTime()));

      assertTrue(Patience.value(ended) - begin >= limit.toNanos(), limit::toString);
    }
  }

  @Test
  void cancelledTaskDoesNotRun() {
    var runs = new AtomicInteger();
    var isEarlierEnded = new CompletableFuture<Boolean>();
    var swept = ExpiryTimer.start(Scheduler.system(), SWEPT_LIMIT, runs::incrementAndGet);
    ExpiryTimer.start(Scheduler.system(), SHORT_LIMIT.plus(LongWaitSweep.PERIOD.multipliedBy(2)),
        () -> isEarlierEnded.complete(swept.cancel()));
    var unswept = ExpiryTimer.start(Scheduler.system(), SWEPT_LIMIT, runs::incrementAndGet);
    assertTrue(unswept.cancel());
    assertFalse(unswept.cancel());

    boolean isCancelled = Patience.value(isEarlierEnded);
    var isLaterEnded = new CompletableFuture<Boolean>();
    ExpiryTimer.start(Scheduler.system(), SWEPT_LIMIT, () -> isLaterEnded.complete(swept.cancel()));
    Patience.value(isLaterEnded);
    assertEquals(isCancelled ? 0 : 1, runs.get());
  }

  @Test
  void eachTimerRunsOrIsCancelled() {
    int timers = 4_000;
    var runs = new AtomicInteger();
    var cancels = new AtomicInteger();
    var ended = new ArrayList<CompletableFuture<Void>>();
    for (int i = 0; i < timers; i++) {
      var timer = ExpiryTimer.start(Scheduler.system(), LongWaitSweep.MIN_LIMIT, runs::incrementAndGet);
      var isDone = new CompletableFuture<Void>();
      ended.add(isDone);
      Scheduler.system().schedule(LongWaitSweep.MIN_LIMIT.minusMillis(i % 100).plusMillis(5), () -> {
        if (timer.cancel()) cancels.incrementAndGet();
        isDone.complete(null);
      });
      if (i % 3 == 0) Patience.startFiber(() -> {
        if (timer.cancel()) cancels.incrementAndGet();
      });
    }
    ended.forEach(Patience::value);

    Patience.eventually(() -> runs.get() + cancels.get() == timers);
    assertTrue(cancels.get() > 0);
  }
}
