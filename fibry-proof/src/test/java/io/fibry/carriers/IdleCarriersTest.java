package io.fibry.carriers;

import io.fibry.Schedules;
import java.util.concurrent.atomic.AtomicInteger;
import org.jetbrains.kotlinx.lincheck.strategy.IncorrectResultsFailure;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests a sender that adds entries to the shared queue, while two carriers search and fall asleep.
 * If an entry is left, a carrier must be awake or woken. The test must also find two planted
 * faults.
 */
@Tag("lincheck")
class IdleCarriersTest {
  private static final int SCHEDULES = 1_000;
  private static final int FAULT_SCHEDULES = 10_000; // ends at the first failure

  /** The shared queue: counts its entries. */
  private static final class Entries {
    private final AtomicInteger count = new AtomicInteger();

    void add() {
      count.incrementAndGet();
    }

    /** Takes an entry. Returns false if there was no entry. */
    boolean take() {
      int old = count.get();
      return old > 0 && (count.compareAndSet(old, old - 1) || take());
    }

    boolean isEmpty() {
      return count.get() == 0;
    }
  }

  /** Two carriers that use {@link IdleCarriers} as Carrier and CarrierPool do. */
  private static class TwoCarriers {
    protected final IdleCarriers idle = new IdleCarriers();
    protected final Sleeper[] sleepers = {new Sleeper(null), new Sleeper(null)};
    protected final Entries entries = new Entries();

    void send() {
      entries.add();
      idle.wakeOne(sleepers);
    }

    /** One search of a carrier, which takes entries until no entry is left, and then sleeps. */
    void searchAndRun(int number) {
      boolean isFound = false;
      if (idle.beginSearch(sleepers.length)) {
        isFound = entries.take();
        idle.endSearch();
      }
      if (!isFound) isFound = sleep(sleepers[number]);
      if (!isFound) return;
      afterSearch();
      while (entries.take());
      if (sleep(sleepers[number])) while (entries.take());
    }

    /** Falls asleep, unless it can take an entry. Returns whether it took an entry. */
    protected boolean sleep(Sleeper sleeper) {
      idle.beginSleep(sleeper);
      if (!entries.take()) return false;
      idle.endSleep(sleeper);
      return true;
    }

    protected void afterSearch() {
      if (!entries.isEmpty()) idle.wakeOne(sleepers);
    }

    void check() {
      if (!entries.isEmpty() && sleepers[0].isAsleep() && sleepers[1].isAsleep())
        throw new AssertionError("an entry waits, and all carriers sleep");
    }
  }

  /** The carrier checks the queue before it announces its sleep, but not afterwards. */
  private static final class EarlyCheck extends TwoCarriers {
    @Override
    protected boolean sleep(Sleeper sleeper) {
      boolean isFound = entries.take();
      if (!isFound) idle.beginSleep(sleeper);
      return isFound;
    }
  }

  /** Which carriers to check. */
  private enum Kind {
    REAL, EARLY_CHECK, NO_HAND_OFF
  }

  /**
   * Creates carriers by `new`, because the model checker sees only objects that instrumented code
   * creates.
   */
  private static TwoCarriers make(Kind kind) {
    return switch (kind) {
      case REAL -> new TwoCarriers();
      case EARLY_CHECK -> new EarlyCheck();
      case NO_HAND_OFF -> new NoHandOff();
    };
  }

  private static void check(Kind kind, int schedules) {
    Schedules.modelCheck(schedules, () -> {
      var carriers = make(kind);
      Schedules.join(Schedules.start(() -> {
        carriers.send();
        carriers.send();
      }), Schedules.start(() -> carriers.searchAndRun(0)), Schedules.start(() -> carriers.searchAndRun(1)));
      carriers.check();
    });
  }

  /** One carrier falls asleep while a sender adds an entry. */
  private static void checkSleep(Kind kind, int schedules) {
    Schedules.modelCheck(schedules, () -> {
      var carriers = make(kind);
      Schedules.join(Schedules.start(() -> carriers.send()), Schedules.start(() -> carriers.searchAndRun(0)));
      if (!carriers.entries.isEmpty() && carriers.sleepers[0].isAsleep())
        throw new AssertionError("an entry waits, and its carrier sleeps");
    });
  }

  /**
   * A carrier finds one entry, stops its search and is busy for long, while the other carrier
   * sleeps. A second entry must wake the other carrier.
   */
  private static void checkHandOff(Kind kind, int schedules) {
    Schedules.modelCheck(schedules, () -> {
      var carriers = make(kind);
      carriers.idle.beginSleep(carriers.sleepers[1]);
      if (!carriers.idle.beginSearch(2)) throw new AssertionError("no carrier searches");
      carriers.send();
      Schedules.join(Schedules.start(() -> carriers.send()), Schedules.start(() -> {
        carriers.entries.take();
        carriers.idle.endSearch();
        carriers.afterSearch(); // and now the carrier is busy
      }));
      if (!carriers.entries.isEmpty() && carriers.sleepers[1].isAsleep())
        throw new AssertionError("an entry waits, one carrier is busy, and the other sleeps");
    });
  }

  /** A searcher that found an entry wakes no other carrier. */
  private static final class NoHandOff extends TwoCarriers {
    @Override
    protected void afterSearch() {}
  }

  @Test
  void entryNeverWaitsWhileAllCarriersSleep() {
    check(Kind.REAL, SCHEDULES);
  }

  @Test
  void carrierFindsEntryAddedWhileItFallsAsleep() {
    checkSleep(Kind.REAL, SCHEDULES);
  }

  @Test
  void carrierThatFoundEntryWakesSleepingCarrier() {
    checkHandOff(Kind.REAL, SCHEDULES);
  }

  private static void assertFound(Runnable check) {
    Schedules.assertFinds(IncorrectResultsFailure.class, check);
  }

  @Test
  void modelCheckFindsCarrierThatChecksQueueTooEarly() {
    assertFound(() -> checkSleep(Kind.EARLY_CHECK, FAULT_SCHEDULES));
  }

  @Test
  void modelCheckFindsCarrierThatWakesNoOtherCarrier() {
    assertFound(() -> checkHandOff(Kind.NO_HAND_OFF, FAULT_SCHEDULES));
  }
}
