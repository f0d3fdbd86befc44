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
import io.fibry.Gate;
import io.fibry.Strategy;
import io.fibry.flow.Batch;
import io.fibry.pool.Entities;
import io.fibry.pool.Pools;
import io.fibry.stereotype.Stereotypes;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Timers at a time, also where a program moves the clock just before one is set. */
class TimerAtTest {
  private static final Duration SECOND = Duration.ofSeconds(1);

  private final ManualScheduler manual = new ManualScheduler();
  private final MovedClock moved = new MovedClock();
  private final ActorScope scope = ActorSystem.openScope("moved", o -> o.withScheduler(moved));
  private final List<String> log = new CopyOnWriteArrayList<>();

  @AfterEach
  void close() {
    scope.closeWithin(Duration.ZERO);
  }

  private static Duration seconds(long seconds) {
    return Duration.ofSeconds(seconds);
  }

  private static long at(long second) {
    return seconds(second).toNanos();
  }

  // ---- the clocks

  @Test
  void manualClockRunsTaskAtItsTime() {
    manual.advance(seconds(3));
    manual.scheduleAt(at(10), () -> log.add("at " + manual.nanoTime() / SECOND.toNanos()));

    manual.advance(seconds(6));
    assertEquals(List.of(), log);
    manual.advance(seconds(6));

    assertEquals(List.of("at 10"), log);
  }

  @Test
  void manualClockRunsTaskAtOnceWhenTimeHasCome() {
    manual.advance(seconds(10));

    var due = manual.scheduleAt(at(10), () -> log.add("due"));
    var late = manual.scheduleAt(at(5), () -> log.add("late"));

    assertEquals(List.of("due", "late"), log);
    assertFalse(due.cancel() || late.cancel());
    manual.advance(seconds(10));
    assertEquals(List.of("due", "late"), log);
  }

  @Test
  void cancelledTimerDoesNotRun() {
    assertTrue(manual.scheduleAt(at(1), () -> log.add("manual")).cancel());
    assertTrue(moved.scheduleAt(at(1), () -> log.add("moved")).cancel());
    assertTrue(Scheduler.system().scheduleAt(System.nanoTime() + at(3_600), () -> log.add("system")).cancel());

    manual.advance(seconds(2));
    moved.manual.advance(seconds(2));

    assertEquals(List.of(), log);
  }

  @Test
  void systemClockRunsTaskWhenTimeHasComeOrComes() {
    var late = new CompletableFuture<Void>();
    var soon = new CompletableFuture<Long>();
    long time = System.nanoTime() + 5_000_000;

    Scheduler.system().scheduleAt(System.nanoTime() - at(1), () -> late.complete(null));
    Scheduler.system().scheduleAt(time, () -> soon.complete(System.nanoTime()));

    assertNull(Patience.value(late));
    assertTrue(Patience.value(soon) - time >= 0);
  }

  @Test
  void taskIsRequired() {
    for (var clock : List.of(manual, moved, Scheduler.system()))
      for (long time : new long[] {clock.nanoTime(), clock.nanoTime() + at(1)})
        assertThrows(NullPointerException.class, () -> clock.scheduleAt(time, null));
  }

  @Test
  void userClockThatMovesMeanwhileRunsTaskAtItsTime() {
    moved.moveBeforeNextTimer(seconds(4));
    moved.scheduleAt(at(10), () -> log.add("due"));

    moved.manual.advance(seconds(5));
    assertEquals(List.of(), log);
    moved.manual.advance(seconds(1));

    assertEquals(List.of("due"), log);
  }

  @Test
  void sleepEndsAtItsTimeWhenClockMovesMeanwhile() {
    var asleep = new CompletableFuture<Void>();
    moved.moveBeforeNextTimer(seconds(4));
    Thread.ofVirtual().start(() -> {
      try {
        moved.sleepUntil(at(10));
        asleep.complete(null);
      } catch (Throwable failure) {
        asleep.completeExceptionally(failure);
      }
    });
    awaitMove(seconds(6));

    moved.manual.advance(seconds(6));

    assertNull(Patience.value(asleep));
  }

  /** The timer is late, unless it was set again. */
  private void awaitMove(Duration left) {
    Patience.eventually(() -> moved.hasMoved() && moved.manual.untilNext().equals(Optional.of(left)));
  }

  // ---- who uses them

  @Test
  void requestExpiresAtItsLimitWhenClockMovesMeanwhile() {
    var gate = new Gate();
    var actor = scope.anonymous().newActorWithReturn((String message) -> {
      gate.pass();
      return message;
    });
    moved.moveBeforeNextTimer(seconds(4));

    var answer = actor.sendMessageReturn("late", seconds(10));
    awaitMove(seconds(6));
    moved.manual.advance(seconds(6));

    assertInstanceOf(AskTimeoutException.class, Patience.failure(answer));
    gate.open();
  }

  @Test
  void askExpiresAtItsLimitWhenClockMovesMeanwhile() {
    var gate = new Gate();
    var actor = scope.anonymous().newActorWithReturn((String message) -> {
      gate.pass();
      return message;
    });
    moved.moveBeforeNextTimer(seconds(4));

    var failure = new CompletableFuture<Throwable>();
    Thread.ofVirtual().start(() -> {
      try {
        failure.complete(new AssertionError("answered " + actor.ask("late", seconds(10))));
      } catch (Throwable thrown) {
        failure.complete(thrown);
      }
    });
    awaitMove(seconds(6));
    moved.manual.advance(seconds(6));

    assertInstanceOf(AskTimeoutException.class, Patience.value(failure));
    gate.open();
  }

  @Test
  void messageComesAtItsTimeWhenClockMovesMeanwhile() {
    var actor = scope.anonymous().newActor((String message) -> log.add(message));
    moved.moveBeforeNextTimer(seconds(4));
    actor.sendMessageLater("due", seconds(10));

    moved.manual.advance(seconds(6));

    Patience.eventually(() -> log.equals(List.of("due")));
    assertTrue(scope.awaitQuiescence(Patience.LONG));
  }

  @Test
  void scheduleKeepsItsRhythmWhenClockMovesMeanwhile() {
    Stereotypes.of(scope.anonymous().strategy(Strategy.CALLER)).scheduleAtFixedRate(seconds(10), seconds(10), () -> {
      log.add("at " + moved.nanoTime() / at(1));
      if (log.size() == 1) moved.moveBeforeNextTimer(seconds(4));
    });
    moved.manual.advance(seconds(10));
    assertTrue(moved.hasMoved());

    moved.manual.advance(seconds(6));

    assertEquals(List.of("at 10", "at 20"), log);
  }

  @Test
  void batchIsHandedOverAtItsTimeWhenClockMovesMeanwhile() {
    Actor<String> batch = Batch.ofLists(scope.named("batch"), 100, seconds(10), texts -> log.addAll(texts));
    moved.moveBeforeNextTimer(seconds(4));
    batch.sendMessage("gathered");
    awaitMove(seconds(6));

    moved.manual.advance(seconds(6));

    Patience.eventually(() -> log.equals(List.of("gathered")));
  }

  @Test
  void idleEntityEndsAtItsTickWhenClockMovesMeanwhile() {
    Entities<String, String> entities = Entities.open(scope.named("account"), seconds(8), (how, key) -> how
        .initialState(() -> key).onStop((String name) -> log.add(name)).newActor((String state, String message) -> {}));
    entities.actor("ada").sendMessage("used");
    for (int second = 1; second < 8; second++) {
      moved.manual.advance(seconds(1));
      Patience.eventually(() -> moved.manual.untilNext().equals(Optional.of(seconds(1))));
    }

    moved.moveBeforeNextTimer(Duration.ofMillis(500));
    moved.manual.advance(seconds(1));
    awaitMove(Duration.ofMillis(500));
    moved.manual.advance(Duration.ofMillis(500));

    Patience.eventually(() -> log.equals(List.of("ada")));
  }

  @Test
  void idleWorkerEndsAfterTenSecondsWhenClockMovesMeanwhile() {
    var pool = Pools.scaling(scope.named("pool"), 0, 2).initialState(() -> "worker").onStop(log::add)
        .newActor((String state, String message) -> {});
    moved.moveBeforeNextTimer(seconds(4));
    pool.sendMessage("used");
    awaitMove(seconds(6));

    moved.manual.advance(seconds(6));

    Patience.eventually(() -> log.equals(List.of("worker")));
  }
}
