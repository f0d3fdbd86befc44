package io.fibry.engine.cell;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.DeadLetter.Reason;
import io.fibry.FailurePolicy;
import io.fibry.Schedules;
import io.fibry.engine.scope.Stage;
import io.fibry.engine.scope.Witness;
import java.time.Duration;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Back-offs and requested restarts race with ends, senders and the timer. The suspended right to
 * run is resumed once, an end needs no timer, and every state is closed once.
 *
 * <p>Catches {@code rest} without its second look at the phase, {@code stopAccepting} without
 * {@code wake}, and a {@code wake} that does not clear the field; see also
 * {@link RestartAgainstEnd}.
 */
@Tag("lincheck")
class SuspensionTest {
  private static final int SCHEDULES = 10;

  /** Its timers fire when the test asks for it, even after a cancel. */
  private static final class Held extends Witness.Never {
    private volatile Runnable due;

    @Override
    public Timer schedule(Duration delay, Runnable task) {
      // a longer one is the grace of a kill
      if (delay.compareTo(Duration.ofMinutes(1)) < 0) due = task;
      return () -> true;
    }

    void fire() {
      var task = due;
      if (task != null) task.run();
    }
  }

  /** An actor that fails at -1. Only the thread with the right to run writes the plain counters. */
  private static final class Episode {
    final Held time = new Held();
    final Actor<Object> actor;
    final Cell cell; // the same from inside
    private boolean inside;
    private boolean torn;
    private boolean reopened;
    private int handled;
    private int made;
    private int stopped;

    Episode() {
      var scope = Stage.scope(options -> options.withScheduler(time).withKillGrace(Duration.ofHours(1)));
      var policy = FailurePolicy.restart().withBackoff(Duration.ofSeconds(1), Duration.ofSeconds(1)).withoutLog();
      actor = scope.anonymous().strategy(Runnable::run).onFailure(policy).initialState(() -> ++made)
          .onStop(state -> stopped++).newActor((Integer state, Object message) -> handle(message));
      cell = (Cell) actor;
    }

    private void handle(Object message) {
      if (inside) torn = true;
      inside = true;
      handled++;
      inside = false;
      if (message.equals(-1)) throw new IllegalStateException("planned");
    }

    /** After the exit was asked for, the actor takes nothing. */
    void endForGood() {
      cell.askExit();
      if (actor.sendMessage(3)) reopened = true;
    }

    long outcomes() {
      long sum = cell.owner().accounts().handled();
      for (var reason : Reason.values()) sum += cell.owner().accounts().unhandled(reason);
      return sum;
    }

    void check(long sent) {
      assertTrue(!torn, "two at once");
      assertTrue(!reopened, "it took a message after it was asked to exit");
      assertNull(cell.extras().suspendedNode());
      assertNull(cell.stranded);
      assertTrue(cell.isIdle(), "the right to run is lost");
      assertEquals(sent, outcomes());
    }

    void checkEnded(long sent) {
      assertTrue(cell.onExit().isDone(), "no end");
      assertEquals(made, stopped);
      check(sent);
    }
  }

  private static void each(Consumer<Episode> play) {
    Schedules.modelCheck(SCHEDULES, () -> play.accept(new Episode()));
  }

  @Test
  void anEndThatComesWhileTheActorGoesToRestNeedsNoTimer() {
    each(stage -> {
      var ender = Schedules.start(stage.cell::askExit);
      stage.actor.sendMessage(-1);
      Schedules.join(ender);

      stage.checkEnded(1);
    });
  }

  @Test
  void aKillThatComesWhileTheActorGoesToRestNeedsNoTimer() {
    each(stage -> {
      var killer = Schedules.start(stage.cell::kill);
      stage.actor.sendMessage(-1);
      Schedules.join(killer);

      stage.checkEnded(1);
    });
  }

  @Test
  void theTimerAndAnEndTakeUpTheRestOnce() {
    each(stage -> {
      stage.actor.sendMessage(-1);
      var timer = Schedules.start(stage.time::fire);
      var ender = Schedules.start(stage.cell::askExit);
      stage.actor.sendMessage(1);
      Schedules.join(timer, ender);

      stage.checkEnded(2);
    });
  }

  @Test
  void twoTimersTakeUpTheRestOnce() {
    each(stage -> {
      stage.actor.sendMessage(-1);
      var first = Schedules.start(stage.time::fire);
      var second = Schedules.start(stage.time::fire);
      stage.actor.sendMessage(1);
      Schedules.join(first, second);

      assertEquals(2, stage.handled);
      stage.check(2);
    });
  }

  @Test
  void aRestartAskedForAtTheEndHoldsItNotUp() {
    for (long pause : new long[] {0, 1_000_000}) {
      each(stage -> {
        stage.actor.sendMessage(1);
        var sibling = Schedules.start(() -> stage.cell.requestRestart(pause));
        var ender = Schedules.start(stage::endForGood);
        stage.actor.sendMessage(2);
        Schedules.join(sibling, ender);

        stage.checkEnded(3);
      });
    }
  }

  @Test
  void aRestartAskedForIsHeededAndLosesNothing() {
    each(stage -> {
      stage.actor.sendMessage(1);
      var sibling = Schedules.start(() -> stage.cell.requestRestart(0));
      var other = Schedules.start(() -> stage.cell.requestRestart(0));
      stage.actor.sendMessage(2);
      Schedules.join(sibling, other);

      assertEquals(2, stage.handled);
      assertEquals(Cell.OPEN, stage.cell.phase);
      assertTrue(stage.stopped >= 1 && stage.made - stage.stopped <= 1,
          "made " + stage.made + ", left " + stage.stopped);
      stage.check(2);
    });
  }
}
