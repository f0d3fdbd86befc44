package io.fibry.engine.cell;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.DeadLetter.Reason;
import io.fibry.FailurePolicy;
import io.fibry.Schedules;
import io.fibry.engine.scope.CheckedActor;
import io.fibry.engine.scope.StressActors;
import java.time.Duration;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests backoffs and requested restarts while other threads end the actor, send messages to it, or
 * fire its timer. The suspended right to run is resumed once, an end needs no timer, and every
 * state is closed once.
 *
 * <p>The tests fail if {@code suspend} does not check the phase a second time, if {@code
 * stopAccepting} does not call {@code wake}, or if {@code wake} does not clear the field. See also
 * {@link RestartAgainstEnd}.
 */
@Tag("lincheck")
class SuspensionTest {
  private static final int SCHEDULES = 10;

  /** A scheduler whose timers fire when the test calls {@code fire}, even after a cancel. */
  private static final class ManualTimers extends CheckedActor.NeverFiringScheduler {
    private volatile Runnable dueTask;

    @Override
    public Timer schedule(Duration delay, Runnable task) {
      // A longer delay is the kill grace, whose timer never fires
      if (delay.compareTo(Duration.ofMinutes(1)) < 0) dueTask = task;
      return () -> true;
    }

    void fire() {
      var task = dueTask;
      if (task != null) task.run();
    }
  }

  /**
   * An actor that fails at the message -1. Only the thread with the right to run writes the plain
   * counters.
   */
  private static final class TestActor {
    final ManualTimers timers = new ManualTimers();
    final Actor<Object> actor;
    final Cell cell; // the actor's internal type
    private boolean isHandling;
    private boolean ranTwice;
    private boolean acceptedAfterExit;
    private int handled;
    private int statesCreated;
    private int statesClosed;

    TestActor() {
      var scope = StressActors.scope(options -> options.withScheduler(timers).withKillGrace(Duration.ofHours(1)));
      var policy = FailurePolicy.restart().withBackoff(Duration.ofSeconds(1), Duration.ofSeconds(1)).withoutLog();
      actor = scope.anonymous().strategy(Runnable::run).onFailure(policy).initialState(() -> ++statesCreated)
          .onStop(state -> statesClosed++).newActor((Integer state, Object message) -> handle(message));
      cell = (Cell) actor;
    }

    private void handle(Object message) {
      if (isHandling) ranTwice = true;
      isHandling = true;
      handled++;
      isHandling = false;
      if (message.equals(-1)) throw new IllegalStateException("planned");
    }

    /** Asks for the exit; afterwards the actor must not accept a message. */
    void exitThenSend() {
      cell.askExit();
      if (actor.sendMessage(3)) acceptedAfterExit = true;
    }

    long outcomes() {
      long sum = cell.owner().accounts().handled();
      for (var reason : Reason.values()) sum += cell.owner().accounts().unhandled(reason);
      return sum;
    }

    void check(long sent) {
      assertTrue(!ranTwice, "two handlers ran at once");
      assertTrue(!acceptedAfterExit, "the actor accepted a message after it was asked to exit");
      assertNull(cell.suspendedNode());
      assertNull(cell.stranded);
      assertTrue(cell.isIdle(), "the right to run is lost");
      assertEquals(sent, outcomes());
    }

    void checkEnded(long sent) {
      assertTrue(cell.onExit().isDone(), "the actor has not ended");
      assertEquals(statesCreated, statesClosed);
      check(sent);
    }
  }

  private static void modelCheck(Consumer<TestActor> test) {
    Schedules.modelCheck(SCHEDULES, () -> test.accept(new TestActor()));
  }

  @Test
  void suspendedActorExitsWithoutWaitingForTimer() {
    modelCheck(subject -> {
      var ender = Schedules.start(subject.cell::askExit);
      subject.actor.sendMessage(-1);
      Schedules.join(ender);

      subject.checkEnded(1);
    });
  }

  @Test
  void suspendedActorIsKilledWithoutWaitingForTimer() {
    modelCheck(subject -> {
      var killer = Schedules.start(subject.cell::kill);
      subject.actor.sendMessage(-1);
      Schedules.join(killer);

      subject.checkEnded(1);
    });
  }

  @Test
  void timerAndExitResumeSuspendedActorOnce() {
    modelCheck(subject -> {
      subject.actor.sendMessage(-1);
      var timer = Schedules.start(subject.timers::fire);
      var ender = Schedules.start(subject.cell::askExit);
      subject.actor.sendMessage(1);
      Schedules.join(timer, ender);

      subject.checkEnded(2);
    });
  }

  @Test
  void twoTimersResumeSuspendedActorOnce() {
    modelCheck(subject -> {
      subject.actor.sendMessage(-1);
      var first = Schedules.start(subject.timers::fire);
      var second = Schedules.start(subject.timers::fire);
      subject.actor.sendMessage(1);
      Schedules.join(first, second);

      assertEquals(2, subject.handled);
      subject.check(2);
    });
  }

  @Test
  void requestedRestartDoesNotDelayExit() {
    for (long pause : new long[] {0, 1_000_000}) {
      modelCheck(subject -> {
        subject.actor.sendMessage(1);
        var sibling = Schedules.start(() -> subject.cell.requestRestart(pause));
        var ender = Schedules.start(subject::exitThenSend);
        subject.actor.sendMessage(2);
        Schedules.join(sibling, ender);

        subject.checkEnded(3);
      });
    }
  }

  @Test
  void requestedRestartLosesNoMessage() {
    modelCheck(subject -> {
      subject.actor.sendMessage(1);
      var firstSibling = Schedules.start(() -> subject.cell.requestRestart(0));
      var secondSibling = Schedules.start(() -> subject.cell.requestRestart(0));
      subject.actor.sendMessage(2);
      Schedules.join(firstSibling, secondSibling);

      assertEquals(2, subject.handled);
      assertEquals(Cell.OPEN, subject.cell.phase);
      assertTrue(subject.statesClosed >= 1 && subject.statesCreated - subject.statesClosed <= 1,
          "states created: " + subject.statesCreated + ", closed: " + subject.statesClosed);
      subject.check(2);
    });
  }
}
