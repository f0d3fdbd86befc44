package io.fibry.time;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.AskTimeoutException;
import io.fibry.Strategy;
import io.fibry.flow.Batch;
import io.fibry.pool.Entities;
import io.fibry.pool.Pools;
import io.fibry.stereotype.Stereotypes;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests timers for a given time, even if the clock moves just before such a timer is set. */
class TimerAtTest {
  private static final Duration SECOND = Duration.ofSeconds(1);

  private final ManualScheduler manualClock = new ManualScheduler();
  private final MovedClock movedClock = new MovedClock();
  private final ActorScope scope = ActorSystem.openScope("moved", o -> o.withScheduler(movedClock));
  private final List<String> log = new CopyOnWriteArrayList<>();

  @AfterEach
  void close() {
    scope.closeWithin(Duration.ZERO);
  }

  private static Duration seconds(long seconds) {
    return Duration.ofSeconds(seconds);
  }

  private static long nanosOf(long second) {
    return seconds(second).toNanos();
  }

  // ---- the clocks

  @Test
  void manualClockRunsTaskAtItsTime() {
    manualClock.advance(seconds(3));
    manualClock.scheduleAt(nanosOf(10), () -> log.add("at " + manualClock.nanoTime() / SECOND.toNanos()));

    manualClock.advance(seconds(6));
    assertEquals(List.of(), log);
    manualClock.advance(seconds(6));

    assertEquals(List.of("at 10"), log);
  }

  @Test
  void manualClockRunsTaskAtOnceIfItsTimeHasPassed() {
    manualClock.advance(seconds(10));

    var dueTimer = manualClock.scheduleAt(nanosOf(10), () -> log.add("due"));
    var lateTimer = manualClock.scheduleAt(nanosOf(5), () -> log.add("late"));

    assertEquals(List.of("due", "late"), log);
    assertFalse(dueTimer.cancel() || lateTimer.cancel());
    manualClock.advance(seconds(10));
    assertEquals(List.of("due", "late"), log);
  }

  @Test
  void systemClockRunsTasksOfPastTimesBesideTaskOfFarFuture() {
    var clock = Scheduler.system();
    var farTimer = clock.scheduleAt(clock.nanoTime() + Long.MAX_VALUE, () -> log.add("far"));

    for (long age : new long[] {0, SECOND.toNanos(), Long.MAX_VALUE / 2}) {
      var taskRun = new CompletableFuture<Boolean>();
      clock.scheduleAt(clock.nanoTime() - age, () -> taskRun.complete(true));
      assertTrue(Patience.value(taskRun));
    }

    assertEquals(List.of(), log);
    assertTrue(farTimer.cancel());
  }

  @Test
  void cancelledTimerDoesNotRun() {
    assertTrue(manualClock.scheduleAt(nanosOf(1), () -> log.add("manual")).cancel());
    assertTrue(movedClock.scheduleAt(nanosOf(1), () -> log.add("moved")).cancel());
    assertTrue(Scheduler.system().scheduleAt(System.nanoTime() + nanosOf(3_600), () -> log.add("system")).cancel());

    manualClock.advance(seconds(2));
    movedClock.manual.advance(seconds(2));

    assertEquals(List.of(), log);
  }

  @Test
  void systemClockRunsTaskAtOrAfterItsTime() {
    var lateRun = new CompletableFuture<Void>();
    var actualTime = new CompletableFuture<Long>();
    long dueTime = System.nanoTime() + 5_000_000;

    Scheduler.system().scheduleAt(System.nanoTime() - nanosOf(1), () -> lateRun.complete(null));
    Scheduler.system().scheduleAt(dueTime, () -> actualTime.complete(System.nanoTime()));

    assertNull(Patience.value(lateRun));
    assertTrue(Patience.value(actualTime) - dueTime >= 0);
  }

  @Test
  void scheduleAtRefusesNullTask() {
    for (var clock : List.of(manualClock, movedClock, Scheduler.system()))
      for (long time : new long[] {clock.nanoTime(), clock.nanoTime() + nanosOf(1)})
        assertThrows(NullPointerException.class, () -> clock.scheduleAt(time, null));
  }

  @Test
  void taskRunsAtItsTimeIfClockMovesBeforeTimerIsSet() {
    movedClock.moveBeforeNextTimer(seconds(4));
    movedClock.scheduleAt(nanosOf(10), () -> log.add("due"));

    movedClock.manual.advance(seconds(5));
    assertEquals(List.of(), log);
    movedClock.manual.advance(seconds(1));

    assertEquals(List.of("due"), log);
  }

  @Test
  void sleepEndsAtItsTimeIfClockMovesBeforeTimerIsSet() {
    movedClock.moveBeforeNextTimer(seconds(4));
    var sleepEnd = Patience.callOnFiber(() -> {
      movedClock.sleepUntil(nanosOf(10));
      return null;
    });
    awaitMove(seconds(6));

    movedClock.manual.advance(seconds(6));

    assertNull(Patience.value(sleepEnd));
  }

  @Test
  void sleepThrowsIfItsThreadIsInterrupted() {
    for (var clock : List.of(movedClock, Scheduler.system())) {
      var ended = new CompletableFuture<Boolean>();
      var sleeper = Patience.startFiber(() -> {
        try {
          clock.sleep(seconds(1_000_000));
          return false;
        } catch (InterruptedException interrupt) {
          return true;
        }
      }, ended);

      sleeper.interrupt();

      assertTrue(Patience.value(ended));
    }
  }

  @Test
  void sleepsOfManyFibersEndAfterTheirTimes() {
    var clock = Scheduler.system();
    var ends = IntStream.range(0, 2_000).mapToObj(i -> Patience.callOnFiber(() -> {
      long time = clock.nanoTime() + i * 1_000;
      clock.sleepUntil(time);
      return clock.nanoTime() - time;
    })).toList();

    for (var end : ends) assertTrue(Patience.value(end) >= 0);
  }

  /** Waits until the clock has moved and the timer was set again for the remaining time. */
  private void awaitMove(Duration remaining) {
    Patience.eventually(() -> movedClock.hasMoved() && movedClock.manual.untilNext().equals(Optional.of(remaining)));
  }

  // ---- users of timers

  @Test
  void requestExpiresAtItsLimitIfClockMovesBeforeTimerIsSet() {
    var gate = new Gate();
    var actor = scope.anonymous().newActorWithReturn((String message) -> {
      gate.pass();
      return message;
    });
    movedClock.moveBeforeNextTimer(seconds(4));

    var answer = actor.sendMessageReturn("late", seconds(10));
    awaitMove(seconds(6));
    movedClock.manual.advance(seconds(6));

    assertInstanceOf(AskTimeoutException.class, Patience.failure(answer));
    gate.open();
  }

  @Test
  void askExpiresAtItsLimitIfClockMovesBeforeTimerIsSet() {
    var gate = new Gate();
    var actor = scope.anonymous().newActorWithReturn((String message) -> {
      gate.pass();
      return message;
    });
    movedClock.moveBeforeNextTimer(seconds(4));

    var failure = new CompletableFuture<Throwable>();
    Thread.ofVirtual().start(() -> {
      try {
        failure.complete(new AssertionError("answered " + actor.ask("late", seconds(10))));
      } catch (Throwable thrown) {
        failure.complete(thrown);
      }
    });
    awaitMove(seconds(6));
    movedClock.manual.advance(seconds(6));

    assertInstanceOf(AskTimeoutException.class, Patience.value(failure));
    gate.open();
  }

  @Test
  void delayedMessageArrivesOnTimeIfClockMovesBeforeTimerIsSet() {
    var actor = scope.anonymous().newActor((String message) -> log.add(message));
    movedClock.moveBeforeNextTimer(seconds(4));
    actor.sendMessageLater("due", seconds(10));

    movedClock.manual.advance(seconds(6));

    Patience.eventually(() -> log.equals(List.of("due")));
    assertTrue(scope.awaitQuiescence(Patience.LONG));
  }

  @Test
  void scheduleKeepsItsRhythmIfClockMovesBeforeTimerIsSet() {
    Stereotypes.of(scope.anonymous().strategy(Strategy.CALLER)).scheduleAtFixedRate(seconds(10), seconds(10), () -> {
      log.add("at " + movedClock.nanoTime() / nanosOf(1));
      if (log.size() == 1) movedClock.moveBeforeNextTimer(seconds(4));
    });
    movedClock.manual.advance(seconds(10));
    assertTrue(movedClock.hasMoved());

    movedClock.manual.advance(seconds(6));

    assertEquals(List.of("at 10", "at 20"), log);
  }

  @Test
  void batchIsHandledAtItsTimeIfClockMovesBeforeTimerIsSet() {
    Actor<String> batch = Batch.ofLists(scope.named("batch"), 100, seconds(10), texts -> log.addAll(texts));
    movedClock.moveBeforeNextTimer(seconds(4));
    batch.sendMessage("gathered");
    awaitMove(seconds(6));

    movedClock.manual.advance(seconds(6));

    Patience.eventually(() -> log.equals(List.of("gathered")));
  }

  @Test
  void idleEntityEndsAtItsTimeIfClockMovesBeforeTimerIsSet() {
    Entities<String, String> entities = Entities.open(scope.named("account"), seconds(8), (builder, key) -> builder
        .initialState(() -> key).onStop((String name) -> log.add(name)).newActor((String state, String message) -> {}));
    entities.actor("ada").sendMessage("used");
    Patience.eventually(() -> scope.report().handled() == 1);
    movedClock.manual.advance(seconds(4));
    entities.actor("ada").sendMessage("used again");
    Patience.eventually(() -> scope.report().handled() == 2);

    movedClock.moveBeforeNextTimer(Duration.ofMillis(500));
    movedClock.manual.advance(seconds(4)); // the check at 8 s plans the next at 12 s
    awaitMove(Duration.ofMillis(3_500));
    movedClock.manual.advance(Duration.ofMillis(3_500));

    Patience.eventually(() -> log.equals(List.of("ada")));
  }

  @Test
  void idleWorkerEndsAfterTenSecondsIfClockMovesBeforeTimerIsSet() {
    var pool = Pools.scaling(scope.named("pool"), 0, 2).initialState(() -> "worker").onStop(log::add)
        .newActor((String state, String message) -> {});
    movedClock.moveBeforeNextTimer(seconds(4));
    pool.sendMessage("used");
    awaitMove(seconds(6));

    movedClock.manual.advance(seconds(6));

    Patience.eventually(() -> log.equals(List.of("worker")));
  }
}
