package io.fibry.time;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorContext;
import io.fibry.ActorSystem;
import io.fibry.Strategy;
import io.fibry.support.Patience;
import io.fibry.testing.Promise;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Tests a clock that only the test moves. */
class ManualClockTest {
  private final ManualScheduler clock = new ManualScheduler();
  private final List<String> log = new ArrayList<>();

  /** Returns a task that logs its name and the second in which it runs. */
  private Runnable logTask(String name) {
    return () -> log.add(name + "@" + Duration.ofNanos(clock.nanoTime()).toSeconds());
  }

  private void advanceSeconds(long seconds) {
    clock.advance(Duration.ofSeconds(seconds));
  }

  @Test
  void timePassesOnlyWhenClockIsMoved() {
    long startTime = clock.nanoTime();

    clock.schedule(Duration.ZERO, logTask("due"));
    boolean hasRunEarly = !log.isEmpty();
    advanceSeconds(3);

    assertFalse(hasRunEarly);
    assertEquals(List.of("due@0"), log);
    assertEquals(3_000_000_000L, clock.nanoTime() - startTime);
  }

  @Promise("12.6")
  @Test
  void timeOfDayMovesWithClock() {
    advanceSeconds(90);

    assertEquals(Instant.parse("2000-01-01T00:01:30Z"), clock.instant());
    assertEquals(Instant.EPOCH, new ManualScheduler(Instant.EPOCH).instant());
  }

  @Promise("12.6")
  @Test
  void handlerReadsClockOfItsScope() {
    try (var scope = ActorSystem.openScope("timed", o -> o.withScheduler(clock).withStrategy(Strategy.CALLER))) {
      var clerk = scope.anonymous()
          .newActorWithReturn((String message, ActorContext<String> context) -> context.scheduler().instant());
      advanceSeconds(1);

      assertEquals(Instant.parse("2000-01-01T00:00:01Z"), clerk.ask("when?"));
    }
  }

  @Test
  void dueTasksRunInOrderAtTheirTimes() {
    clock.schedule(Duration.ofSeconds(2), logTask("two"));
    clock.schedule(Duration.ofSeconds(1), logTask("one"));
    clock.schedule(Duration.ofSeconds(2), logTask("two too"));

    advanceSeconds(5);

    assertEquals(List.of("one@1", "two@2", "two too@2"), log);
  }

  @Test
  void taskScheduledByTaskRunsDuringSameClockAdvance() {
    clock.schedule(Duration.ofSeconds(1), () -> clock.schedule(Duration.ofSeconds(1), logTask("second")));

    advanceSeconds(5);

    assertEquals(List.of("second@2"), log);
  }

  @Test
  void fixedRateTaskRunsInEachPeriod() {
    clock.scheduleAtFixedRate(Duration.ofSeconds(1), Duration.ofSeconds(2), logTask("tick"));

    advanceSeconds(6);

    assertEquals(List.of("tick@1", "tick@3", "tick@5"), log);
  }

  @Promise("12.2")
  @Test
  void lateFixedRateTaskKeepsRhythmAndSkipsMissedRuns() {
    clock.scheduleAtFixedRate(Duration.ofSeconds(1), Duration.ofSeconds(2), () -> {
      logTask("tick").run();
      if (log.size() == 1) advanceSeconds(5); // moves the clock to second 6, so the runs of seconds 3 and 5 are skipped
    });

    advanceSeconds(9);

    assertEquals(List.of("tick@1", "tick@7", "tick@9"), log);
  }

  @Test
  void fixedDelayCountsFromEndOfPreviousRun() {
    clock.scheduleWithFixedDelay(Duration.ofSeconds(1), Duration.ofSeconds(2), () -> {
      logTask("tick").run();
      if (log.size() == 1) advanceSeconds(5);
    });

    advanceSeconds(9);

    assertEquals(List.of("tick@1", "tick@8"), log);
  }

  @Test
  void cancelledTimerDoesNotRun() {
    var oneTimer = clock.schedule(Duration.ofSeconds(1), logTask("once"));
    var repeatingTimer = clock.scheduleAtFixedRate(Duration.ofSeconds(1), Duration.ofSeconds(1), logTask("again"));
    advanceSeconds(1);

    assertFalse(oneTimer.cancel());
    assertTrue(repeatingTimer.cancel());
    assertFalse(repeatingTimer.cancel());
    advanceSeconds(5);

    assertEquals(List.of("once@1", "again@1"), log);
  }

  @Test
  void taskMayCancelItself() {
    var timer = new Scheduler.Timer[1];
    timer[0] = clock.scheduleAtFixedRate(Duration.ofSeconds(1), Duration.ofSeconds(1), () -> {
      logTask("tick").run();
      timer[0].cancel();
    });

    advanceSeconds(5);

    assertEquals(List.of("tick@1"), log);
  }

  @Test
  void repeatingTaskContinuesAfterException() {
    clock.scheduleAtFixedRate(Duration.ofSeconds(1), Duration.ofSeconds(1), () -> {
      logTask("tick").run();
      throw new IllegalStateException("made up, for a test");
    });

    advanceSeconds(2);

    assertEquals(List.of("tick@1", "tick@2"), log);
  }

  @Test
  void invalidTimesAreRefused() {
    assertText("is negative", () -> clock.schedule(Duration.ofSeconds(-1), () -> {}));
    assertText("is negative", () -> clock.advance(Duration.ofSeconds(-1)));
    assertText("more than zero", () -> clock.scheduleAtFixedRate(Duration.ZERO, Duration.ZERO, () -> {}));
    assertText("more than zero", () -> clock.scheduleWithFixedDelay(Duration.ZERO, Duration.ofSeconds(-1), () -> {}));
    assertEquals("task",
        assertThrows(NullPointerException.class, () -> clock.schedule(Duration.ZERO, null)).getMessage());
  }

  private static void assertText(String text, Runnable code) {
    var failure = assertThrows(IllegalArgumentException.class, code::run);
    assertTrue(failure.getMessage().contains(text), failure.getMessage());
  }

  @Test
  void isAsleepReturnsFalseForInterruptedSleeper() {
    var interruptFuture = new CompletableFuture<Boolean>();
    var sleeper = Patience.startFiber(() -> {
      try {
        clock.sleepUntil(Long.MAX_VALUE);
      } catch (InterruptedException interrupted) {
        interruptFuture.complete(true);
      }
    });
    Patience.eventually(() -> clock.isAsleep(sleeper));

    // `isAsleep` holds this monitor. The test holds it too, so the interrupted sleeper has to wait
    // before it can leave the sleepers
    synchronized (clock) {
      sleeper.interrupt();
      Patience.eventually(() -> sleeper.getState() == Thread.State.BLOCKED);
      assertFalse(clock.isAsleep(sleeper));
    }

    assertTrue(Patience.value(interruptFuture));
  }

  @Test
  void taskWithMaxDelayNeverRuns() {
    clock.schedule(Duration.ofSeconds(Long.MAX_VALUE), logTask("never"));

    clock.advance(Duration.ofDays(36_500));

    assertEquals(List.of(), log);
  }

  // ---- sleep

  @Test
  void sleepEndsWhenItsTimeHasPassed() {
    advanceSeconds(5);
    var sleeper = new CompletableFuture<Thread>();
    var wakeTime = Patience.callOnFiber(() -> {
      sleeper.complete(Thread.currentThread());
      clock.sleep(Duration.ofSeconds(10));
      return clock.nanoTime();
    });
    Patience.eventually(() -> clock.isAsleep(Patience.value(sleeper)));

    clock.advance(Duration.ofSeconds(10).minusNanos(1));
    assertTrue(clock.isAsleep(Patience.value(sleeper)));
    clock.advance(Duration.ofNanos(1));

    assertEquals(Duration.ofSeconds(15).toNanos(), Patience.value(wakeTime));
  }

  @Test
  void zeroSleepReturnsAtOnceAndNegativeSleepIsRefused() throws InterruptedException {
    for (var scheduler : List.of(clock, Scheduler.system())) {
      scheduler.sleep(Duration.ZERO);
      assertEquals("a delay of -2 s is negative; give zero or more",
          assertThrows(IllegalArgumentException.class, () -> scheduler.sleep(Duration.ofSeconds(-2))).getMessage());
    }
  }

  @Test
  void sleepOfLongestDurationContinuesUntilInterrupt() {
    advanceSeconds(5);
    for (var scheduler : List.of(clock, Scheduler.system())) {
      var interrupted = new CompletableFuture<Boolean>();
      var sleeper = Patience.startFiber(() -> {
        try {
          scheduler.sleep(Duration.ofSeconds(Long.MAX_VALUE));
          interrupted.complete(false);
        } catch (InterruptedException interrupt) {
          interrupted.complete(true);
        }
      });
      Patience.eventually(() -> sleeper.getState() == Thread.State.WAITING);
      advanceSeconds(100 * 365 * 86_400L);
      assertFalse(interrupted.isDone());

      sleeper.interrupt();

      assertTrue(Patience.value(interrupted));
    }
  }

  // ---- awaitDone

  @Test
  void awaitDoneReturnsFalseWhenClockReachesLimit() throws InterruptedException {
    var pendingFuture = new CompletableFuture<String>();
    var result = Patience.callOnFiber(() -> clock.awaitDone(pendingFuture, Duration.ofHours(1)));
    Patience.eventually(() -> clock.untilNext().isPresent()); // the waiter has set its timer
    assertFalse(result.isDone());
    clock.advance(Duration.ofHours(1));

    assertFalse(Patience.value(result));
    assertFalse(clock.awaitDone(pendingFuture, Duration.ZERO));
    assertFalse(Scheduler.system().awaitDone(pendingFuture, Duration.ofNanos(1)));
    assertEquals(0, pendingFuture.getNumberOfDependents());
  }

  @Test
  void awaitDoneReturnsTrueWhenFutureCompletesFailsOrIsCancelled() throws InterruptedException {
    var failedFuture = CompletableFuture.failedFuture(new IllegalStateException());
    var cancelledFuture = new CompletableFuture<String>();
    cancelledFuture.cancel(true);
    for (var scheduler : List.of(clock, Scheduler.system()))
      for (var future : List.of(failedFuture, cancelledFuture, CompletableFuture.completedFuture("a")))
        assertTrue(scheduler.awaitDone(future, Duration.ofHours(1)));

    var laterFuture = new CompletableFuture<String>();
    Patience.startFiber(() -> laterFuture.completeExceptionally(new IllegalStateException()));
    assertTrue(new ManualScheduler().awaitDone(laterFuture, Duration.ofHours(1)));
  }
}
