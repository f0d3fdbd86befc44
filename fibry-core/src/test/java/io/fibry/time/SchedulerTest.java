package io.fibry.time;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.engine.timer.TimerQueue;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Tests the system's clock. */
class SchedulerTest {
  private static final Duration MILLISECOND = Duration.ofMillis(1);

  private final Scheduler clock = Scheduler.system();

  @Promise("13.1")
  @Test
  void systemSchedulerHasSingleDaemonThread() throws Exception {
    var firstThread = new CompletableFuture<Thread>();
    var secondThread = new CompletableFuture<Thread>();

    clock.schedule(MILLISECOND, () -> firstThread.complete(Thread.currentThread()));
    clock.schedule(MILLISECOND, () -> secondThread.complete(Thread.currentThread()));

    assertSame(Scheduler.system(), clock);
    assertSame(Patience.value(firstThread), Patience.value(secondThread));
    assertTrue(firstThread.join().isDaemon());
    assertEquals("fibry-timer", firstThread.join().getName());
  }

  @Test
  void taskDoesNotRunBeforeItsTime() throws Exception {
    var runTime = new CompletableFuture<Long>();
    long startTime = clock.nanoTime();

    clock.schedule(Duration.ofMillis(20), () -> runTime.complete(clock.nanoTime()));

    assertTrue(Patience.value(runTime) - startTime >= 20_000_000);
  }

  @Test
  void sleepDoesNotEndBeforeItsTime() throws Exception {
    long startTime = clock.nanoTime();

    clock.sleep(Duration.ofMillis(20));

    assertTrue(clock.nanoTime() - startTime >= 20_000_000);
  }

  @Test
  void taskDoesNotSeeInterruptOfPreviousTask() throws Exception {
    var interruptFlag = new CompletableFuture<Boolean>();

    // set by a task of the scheduler, so that its thread does not sleep between the two inner tasks
    clock.schedule(Duration.ZERO, () -> {
      clock.schedule(Duration.ZERO, () -> Thread.currentThread().interrupt());
      clock.schedule(Duration.ZERO, () -> interruptFlag.complete(Thread.currentThread().isInterrupted()));
    });

    assertFalse(Patience.value(interruptFlag));
  }

  @Test
  void fixedRateTaskRunsUntilCancelled() throws Exception {
    var ticks = new Semaphore(0);

    var timer = clock.scheduleAtFixedRate(MILLISECOND, MILLISECOND, ticks::release);

    Patience.acquire(ticks, 5);
    assertTrue(timer.cancel());
    assertFalse(timer.cancel());
  }

  @Test
  void fixedDelayTaskContinuesAfterFailure() throws Exception {
    var ticks = new CountDownLatch(3);

    var timer = clock.scheduleWithFixedDelay(MILLISECOND, MILLISECOND, () -> {
      ticks.countDown();
      throw new IllegalStateException("made up, for a test");
    });

    Patience.await(ticks);
    timer.cancel();
  }

  @Test
  void repeatedTaskContinuesWhenItsFailureCannotBeLogged() {
    var ticks = new CountDownLatch(3);

    var timer = clock.scheduleAtFixedRate(MILLISECOND, MILLISECOND, () -> {
      ticks.countDown();
      throw new UnloggableException();
    });

    Patience.await(ticks);
    timer.cancel();
  }

  private static final class UnloggableException extends RuntimeException {
    private static final long serialVersionUID = 1;

    @Override
    public String getMessage() {
      throw new OutOfMemoryError("planned");
    }
  }

  @Test
  void repeatedTaskIsCancelledDuringItsRun() {
    var manualClock = new ManualScheduler();
    var timer = new AtomicReference<Scheduler.Timer>();
    var cancels = new ArrayList<Boolean>();
    timer.set(manualClock.scheduleAtFixedRate(MILLISECOND, MILLISECOND, () -> {
      cancels.add(timer.get().cancel());
      cancels.add(timer.get().cancel());
    }));

    manualClock.advance(MILLISECOND.multipliedBy(3));

    assertEquals(List.of(true, false), cancels);
    assertEquals(Optional.empty(), manualClock.untilNext());
  }

  @Test
  void cancelledTaskDoesNotRun() {
    var scheduler = new SystemScheduler(new TimerQueue());
    var gate = new Gate(); // blocks the scheduler's thread
    scheduler.schedule(Duration.ZERO, gate::passUninterruptibly);
    Patience.await(gate.entered);
    var taskRun = new CompletableFuture<Boolean>();
    var timer = scheduler.schedule(Duration.ZERO, () -> taskRun.complete(true));

    assertTrue(timer.cancel());
    var laterTask = new CountDownLatch(1);
    scheduler.schedule(Duration.ZERO, laterTask::countDown);
    gate.open();

    Patience.await(laterTask);
    assertFalse(taskRun.isDone());
  }

  @Test
  void invalidTimesAreRefused() {
    assertThrows(IllegalArgumentException.class, () -> clock.schedule(Duration.ofSeconds(-1), () -> {}));
    assertThrows(IllegalArgumentException.class, () -> clock.scheduleAtFixedRate(MILLISECOND, Duration.ZERO, () -> {}));
    assertThrows(NullPointerException.class, () -> clock.scheduleWithFixedDelay(MILLISECOND, MILLISECOND, null));
  }
}
