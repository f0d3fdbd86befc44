package io.fibry.engine.jvm;

import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Tests the shared check of a collection, whose timer cannot be set while memory is exhausted. */
class SharedCheckFaultTest {
  private static final Duration DELAY = Duration.ofMillis(1);

  private final AtomicInteger remainingFaults = new AtomicInteger();

  private final class FaultyCheck extends SharedCheck {
    FaultyCheck(Runnable check) {
      super(DELAY, check);
    }

    @Override
    Scheduler clock() {
      if (remainingFaults.getAndDecrement() > 0) throw new OutOfMemoryError("planned");
      return super.clock();
    }
  }

  @Test
  void scheduleEventuallyRetriesUntilTimerIsSet() {
    remainingFaults.set(3);
    var ran = new CountDownLatch(1);
    var check = new FaultyCheck(ran::countDown);

    check.scheduleEventually();

    Patience.await(ran);
  }

  /**
   * Another thread schedules the check while the first is about to set the timer. The other thread
   * relies on that timer.
   */
  @Test
  void checkScheduledByTwoThreadsRunsAlthoughFirstTimerFails() {
    var ran = new CountDownLatch(1);
    var isFirst = new AtomicBoolean(true);
    var check = new SharedCheck[1];
    check[0] = new SharedCheck(DELAY, ran::countDown) {
      @Override
      Scheduler clock() {
        if (!isFirst.getAndSet(false)) return super.clock();
        check[0].schedule(); // as the other thread does
        throw new OutOfMemoryError("planned");
      }
    };

    assertThrows(OutOfMemoryError.class, check[0]::schedule);

    Patience.await(ran);
  }

  @Test
  void nextScheduleCallSetsTimerAfterFirstCallFailed() {
    remainingFaults.set(1);
    var ran = new CountDownLatch(1);
    var check = new FaultyCheck(ran::countDown);
    assertThrows(OutOfMemoryError.class, check::schedule);

    check.schedule();

    Patience.await(ran);
  }

  /** Schedules during a check, which may already have passed the object that was added. */
  @Test
  void scheduleDuringCheckSetsNewTimer() {
    var clock = new ManualScheduler();
    var runs = new AtomicInteger();
    var check = new SharedCheck[1];
    check[0] = new SharedCheck(DELAY, () -> {
      if (runs.incrementAndGet() == 1) check[0].schedule();
    }) {
      @Override
      Scheduler clock() {
        return clock;
      }
    };
    check[0].schedule();

    for (int i = 0; i < 2; i++) clock.advance(DELAY);

    Patience.eventually(() -> runs.get() == 2);
  }
}
