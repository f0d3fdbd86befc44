package io.fibry.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.fibry.Schedules;
import io.fibry.testing.Promise;
import io.fibry.time.Scheduler;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests turns of the wheel while other threads use entities, add entities and move the clock. After
 * the race the clock moves only to the times of timers. An entity must then be passivated exactly
 * when its idle time is over, or at once if it was over before the end of the race.
 */
@Tag("lincheck")
class IdleWheelRacesTest {
  private static final int SCHEDULES = 3_000;
  private static final int MAX_TIMERS = 50;
  private static final long MILLI = 1_000_000;
  private static final long IDLE = 16 * MILLI; // two ticks per step

  /** A clock with one timer, which is all that a wheel needs. */
  private static final class OneTimerClock implements Scheduler {
    private record OneTimer(long time, Runnable task) {}

    private volatile long now;
    private OneTimer timer; // null if none is set; guarded by this

    @Override
    public long nanoTime() {
      return now;
    }

    @Override
    public synchronized Timer scheduleAt(long time, Runnable task) {
      assertNull(timer, "a second timer is set");
      var newTimer = new OneTimer(time, task);
      timer = newTimer;
      fireIfDue();
      return () -> cancel(newTimer);
    }

    private synchronized boolean cancel(OneTimer cancelled) {
      boolean isSet = timer == cancelled;
      if (isSet) timer = null;
      return isSet;
    }

    synchronized void advanceTo(long time) {
      now = time;
      fireIfDue();
    }

    /** Advances to the time of the timer. Returns false if no timer is set. */
    synchronized boolean advanceToTimer() {
      if (timer == null) return false;
      advanceTo(timer.time);
      return true;
    }

    private void fireIfDue() {
      var due = timer;
      if (due == null || due.time > now) return;
      timer = null;
      due.task.run();
    }

    @Override
    public Timer schedule(Duration delay, Runnable task) {
      throw new UnsupportedOperationException("the wheel sets its timers by time");
    }

    @Override
    public Timer scheduleAtFixedRate(Duration initial, Duration period, Runnable task) {
      throw new UnsupportedOperationException("the wheel sets no repeated timers");
    }

    @Override
    public Timer scheduleWithFixedDelay(Duration initial, Duration delay, Runnable task) {
      throw new UnsupportedOperationException("the wheel sets no repeated timers");
    }
  }

  /** A wheel whose first entity is due, and whose turn is pending. */
  private static final class Race {
    private final OneTimerClock clock = new OneTimerClock();
    private final IdleWheel<String, String> wheel =
        new IdleWheel<>(Duration.ofNanos(IDLE), clock, this::onTimer, this::passivate);
    private final Entity<String, String> first;
    private volatile boolean isTurnPending;
    private volatile long raceEnd = -1; // the time at the end of the race; -1 before it
    private int madeCount; // guarded by this
    private int goneCount; // written by turns
    private String fault; // null: none; not thrown by turns, because a turn catches what is thrown

    Race() {
      first = make();
      clock.advanceTo(IDLE);
      if (!isTurnPending) throw new AssertionError("no check is due");
    }

    private void onTimer() {
      if (isTurnPending) throw new AssertionError("a timer is set beside a pending turn");
      isTurnPending = true;
    }

    private boolean passivate(Entity<String, String> entity, long useState) {
      if (!entity.passivate(useState)) return false;
      goneCount++;
      long due = Entity.tick(useState) * MILLI + IDLE;
      boolean isExact = raceEnd < 0 ? due <= clock.now : Math.max(due, raceEnd) == clock.now;
      if (!isExact) fault = "due at " + due + ", but passivated at " + clock.now;
      return true;
    }

    void turn() {
      isTurnPending = false;
      wheel.turn();
    }

    Entity<String, String> make() {
      var entity = new Entity<String, String>("key", wheel.currentTick());
      synchronized (this) {
        madeCount++;
      }
      wheel.add(entity);
      entity.leave(wheel.currentTick());
      return entity;
    }

    void advance() {
      clock.advanceTo(IDLE + 5 * MILLI);
    }

    void use() {
      if (first.enter()) first.leave(wheel.currentTick());
    }

    void verify() {
      raceEnd = clock.now;
      for (int i = 0; i < MAX_TIMERS; i++) {
        if (isTurnPending) turn();
        else if (!clock.advanceToTimer()) break;
      }
      assertEquals(madeCount, goneCount, "number of passivated entities");
      assertNull(fault);
    }
  }

  @Promise("23.13")
  @Test
  void entityUsedSinceCheckReadItsTimeIsPassivatedExactly() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var race = new Race();

      var user = Schedules.start(() -> {
        race.use();
        race.advance();
      });
      race.turn();
      Schedules.join(user);

      race.verify();
    });
  }

  @Promise("23.13")
  @Test
  void entityWhoseUserReadTimeBeforeCheckIsPassivatedExactly() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var race = new Race();

      var user = Schedules.start(race::use);
      race.advance();
      race.turn();
      Schedules.join(user);

      race.verify();
    });
  }

  @Promise("23.13")
  @Test
  void entityMadeWhileLastOneEndsIsPassivatedExactly() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var race = new Race();

      var creator = Schedules.start(() -> {
        race.make();
        race.advance();
        race.make();
      });
      race.turn();
      Schedules.join(creator);

      race.verify();
    });
  }

  @Promise("23.13")
  @Test
  void entitiesMadeAtOnceAfterLastEndArePassivatedExactly() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var race = new Race();
      race.turn(); // passivates the first entity, so that no timer is set

      var creator = Schedules.start(() -> {
        race.make();
        race.advance();
      });
      race.make();
      Schedules.join(creator);

      race.verify();
    });
  }

  @Promise("23.13")
  @Test
  void entityMadeAfterAnotherHasEndedEarlyIsPassivatedExactly() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var race = new Race();
      var ended = new Entity<String, String>("ended", race.wheel.currentTick());

      var creator = Schedules.start(() -> race.wheel.add(ended));
      ended.markGone();
      race.turn();
      Schedules.join(creator);
      race.make();

      race.verify();
    });
  }
}
