package io.fibry.carriers;

import io.fibry.Schedules;
import io.fibry.engine.carrier.CarriedDrain;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jetbrains.kotlinx.lincheck.strategy.IncorrectResultsFailure;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests askers that share a list of {@link LentDrains}, and the watch that takes late drains back.
 * The test must also find a planted fault.
 */
@Tag("lincheck")
class LentDrainsTest {
  private static final int SCHEDULES = 1_000;
  private static final int FAULT_SCHEDULES = 10_000; // ends at the first failure
  private static final int ASKER = 7; // its thread id

  /** A drain that counts its runs. */
  private static final class CountedDrain implements CarriedDrain {
    private final AtomicBoolean begun = new AtomicBoolean();
    private final AtomicInteger runs = new AtomicInteger();

    @Override
    public boolean runOnce() {
      if (!begun.compareAndSet(false, true)) return false;
      runs.incrementAndGet();
      return true;
    }

    @Override
    public void run() {
      runOnce();
    }

    @Override
    public void leaveThread() {}

    @Override
    public void forgetHandler() {}
  }

  /** The sleep of the {@link CarrierWatch}, and the wake-up by an asker. */
  private static class Watch {
    protected final LentDrains lent = new LentDrains();
    protected final AtomicBoolean asleep = new AtomicBoolean();

    void lend(CarriedDrain drain) {
      lent.add(drain, ASKER);
      wake();
    }

    protected final void wake() {
      asleep.compareAndSet(true, false);
    }

    void sleep() {
      asleep.set(true);
      if (lent.hasWaiting()) asleep.set(false);
    }
  }

  /** An asker that wakes the watch before it lends its drain. */
  private static final class EarlyWakeUp extends Watch {
    @Override
    void lend(CarriedDrain drain) {
      wake();
      lent.add(drain, ASKER);
    }
  }

  private static void checkSleep(boolean isFault, int schedules) {
    Schedules.modelCheck(schedules, () -> {
      var watch = isFault ? new EarlyWakeUp() : new Watch();
      Schedules.join(Schedules.start(() -> watch.lend(new CountedDrain())), Schedules.start(() -> watch.sleep()));
      if (watch.asleep.get()) throw new AssertionError("a drain waits, and the watch sleeps");
    });
  }

  /**
   * The threads of some drains are lost, and two askers lend other drains meanwhile. The watch must
   * find all drains whose threads are lost, and each drain must run once.
   */
  private static void checkLateDrains(int schedules) {
    Schedules.modelCheck(schedules, () -> {
      var lent = new LentDrains();
      var late = new CountedDrain();
      var quick = new CountedDrain();
      var later = new CountedDrain();
      Schedules.join(Schedules.start(() -> lent.add(late, ASKER)), Schedules.start(() -> {
        lent.add(quick, ASKER).run();
        lent.add(later, ASKER);
      }), Schedules.start(() -> lent.takeBackOld(CarriedDrain::runOnce)));
      for (int i = 0; i < 2; i++) lent.takeBackOld(CarriedDrain::runOnce);
      check(late);
      check(quick);
      check(later);
      if (lent.hasWaiting()) throw new AssertionError("a drain that has run waits");
    });
  }

  private static void check(CountedDrain drain) {
    if (drain.runs.get() != 1) throw new AssertionError("a drain ran " + drain.runs.get() + " times");
  }

  @Test
  void watchFindsDrainLentWhileItFallsAsleep() {
    checkSleep(false, SCHEDULES);
  }

  @Test
  void everyDrainRunsOnceThoughThreadsAreLost() {
    checkLateDrains(SCHEDULES);
  }

  @Test
  void modelCheckFindsAskerThatWakesWatchTooEarly() {
    Schedules.assertFinds(IncorrectResultsFailure.class, () -> checkSleep(true, FAULT_SCHEDULES));
  }
}
