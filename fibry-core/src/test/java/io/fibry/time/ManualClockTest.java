package io.fibry.time;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Promise;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** A clock that a test moves. */
class ManualClockTest {
  private final ManualScheduler clock = new ManualScheduler();
  private final List<String> log = new ArrayList<>();

  private Runnable note(String what) {
    return () -> log.add(what + "@" + Duration.ofNanos(clock.nanoTime()).toSeconds());
  }

  private void seconds(long seconds) {
    clock.advance(Duration.ofSeconds(seconds));
  }

  @Test
  void timeStandsStillUntilItIsMoved() {
    long before = clock.nanoTime();

    clock.schedule(Duration.ZERO, note("due"));
    boolean ranEarly = !log.isEmpty();
    seconds(3);

    assertFalse(ranEarly);
    assertEquals(List.of("due@0"), log);
    assertEquals(3_000_000_000L, clock.nanoTime() - before);
  }

  @Test
  void dueTasksRunInOrderAtTheirTimes() {
    clock.schedule(Duration.ofSeconds(2), note("two"));
    clock.schedule(Duration.ofSeconds(1), note("one"));
    clock.schedule(Duration.ofSeconds(2), note("two too"));

    seconds(5);

    assertEquals(List.of("one@1", "two@2", "two too@2"), log);
  }

  @Test
  void taskScheduledByTaskRunsInSameMove() {
    clock.schedule(Duration.ofSeconds(1), () -> clock.schedule(Duration.ofSeconds(1), note("second")));

    seconds(5);

    assertEquals(List.of("second@2"), log);
  }

  @Test
  void aFixedRateRunsAtEachPeriod() {
    clock.scheduleAtFixedRate(Duration.ofSeconds(1), Duration.ofSeconds(2), note("tick"));

    seconds(6);

    assertEquals(List.of("tick@1", "tick@3", "tick@5"), log);
  }

  @Promise("12.2")
  @Test
  void aLateRunKeepsTheRhythmAndMakesNoBurst() {
    clock.scheduleAtFixedRate(Duration.ofSeconds(1), Duration.ofSeconds(2), () -> {
      note("tick").run();
      if (log.size() == 1) seconds(5); // until 6: skips 3 and 5
    });

    seconds(9);

    assertEquals(List.of("tick@1", "tick@7", "tick@9"), log);
  }

  @Test
  void aFixedDelayCountsFromTheEndOfTheRunBefore() {
    clock.scheduleWithFixedDelay(Duration.ofSeconds(1), Duration.ofSeconds(2), () -> {
      note("tick").run();
      if (log.size() == 1) seconds(5);
    });

    seconds(9);

    assertEquals(List.of("tick@1", "tick@8"), log);
  }

  @Test
  void aCancelledTimerDoesNotRun() {
    var once = clock.schedule(Duration.ofSeconds(1), note("once"));
    var again = clock.scheduleAtFixedRate(Duration.ofSeconds(1), Duration.ofSeconds(1), note("again"));
    seconds(1);

    assertFalse(once.cancel());
    assertTrue(again.cancel());
    assertFalse(again.cancel());
    seconds(5);

    assertEquals(List.of("once@1", "again@1"), log);
  }

  @Test
  void aTaskMayCancelItself() {
    var timer = new Scheduler.Timer[1];
    timer[0] = clock.scheduleAtFixedRate(Duration.ofSeconds(1), Duration.ofSeconds(1), () -> {
      note("tick").run();
      timer[0].cancel();
    });

    seconds(5);

    assertEquals(List.of("tick@1"), log);
  }

  @Test
  void aRepeatedTaskThatThrowsGoesOn() {
    clock.scheduleAtFixedRate(Duration.ofSeconds(1), Duration.ofSeconds(1), () -> {
      note("tick").run();
      throw new IllegalStateException("made up, for a test");
    });

    seconds(2);

    assertEquals(List.of("tick@1", "tick@2"), log);
  }

  @Test
  void timesThatMakeNoSenseAreRefused() {
    assertText("lies in the past", () -> clock.schedule(Duration.ofSeconds(-1), () -> {}));
    assertText("lies in the past", () -> clock.advance(Duration.ofSeconds(-1)));
    assertText("more than zero", () -> clock.scheduleAtFixedRate(Duration.ZERO, Duration.ZERO, () -> {}));
    assertText("more than zero", () -> clock.scheduleWithFixedDelay(Duration.ZERO, Duration.ofSeconds(-1), () -> {}));
    assertEquals("task",
        assertThrows(NullPointerException.class, () -> clock.schedule(Duration.ZERO, null)).getMessage());
  }

  private static void assertText(String text, Runnable code) {
    var refusal = assertThrows(IllegalArgumentException.class, code::run);
    assertTrue(refusal.getMessage().contains(text), refusal.getMessage());
  }

  @Test
  void aSleeperThatWasInterruptedIsNotAsleep() {
    var woken = new CompletableFuture<Boolean>();
    var sleeper = Patience.startFiber(() -> {
      try {
        clock.sleepUntil(Long.MAX_VALUE);
      } catch (InterruptedException interrupted) {
        woken.complete(true);
      }
    });
    Patience.eventually(() -> clock.isAsleep(sleeper));

    synchronized (clock) { // as a thread that looks at it holds this monitor, too
      sleeper.interrupt();
      Patience.eventually(() -> sleeper.getState() == Thread.State.BLOCKED);
      assertFalse(clock.isAsleep(sleeper));
    }

    assertTrue(Patience.value(woken));
  }

  @Test
  void aVeryLongDelayIsOneThatNeverComes() {
    clock.schedule(Duration.ofSeconds(Long.MAX_VALUE), note("never"));

    clock.advance(Duration.ofDays(36_500));

    assertEquals(List.of(), log);
  }

  // ---- awaitDone

  @Test
  void aWaitForAFutureEndsWhenTheClockHasReachedItsLimit() throws InterruptedException {
    var clock = new ManualScheduler();
    var never = new CompletableFuture<String>();
    var done = new CompletableFuture<Boolean>();
    var waiting = Patience.startFiber(() -> {
      try {
        done.complete(clock.awaitDone(never, Duration.ofHours(1)));
      } catch (InterruptedException interrupted) {
        done.completeExceptionally(interrupted);
      }
    });
    Patience.parked(waiting);
    assertFalse(done.isDone());
    clock.advance(Duration.ofHours(1));

    assertFalse(Patience.value(done));
    assertFalse(clock.awaitDone(never, Duration.ZERO));
    assertFalse(Scheduler.system().awaitDone(never, Duration.ofNanos(1)));
    assertEquals(0, never.getNumberOfDependents());
  }

  @Test
  void waitForFutureEndsWhenFutureIsDoneInAnyWay() throws InterruptedException {
    var failed = CompletableFuture.failedFuture(new IllegalStateException());
    var cancelled = new CompletableFuture<String>();
    cancelled.cancel(true);
    for (var clock : List.of(new ManualScheduler(), Scheduler.system()))
      for (var future : List.of(failed, cancelled, CompletableFuture.completedFuture("a")))
        assertTrue(clock.awaitDone(future, Duration.ofHours(1)));

    var later = new CompletableFuture<String>();
    Patience.startFiber(() -> later.completeExceptionally(new IllegalStateException()));
    assertTrue(new ManualScheduler().awaitDone(later, Duration.ofHours(1)));
  }
}
