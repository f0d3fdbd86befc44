package io.fibry.carriers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.carriers.LentDrains.LentDrain;
import io.fibry.engine.carrier.CarriedDrain;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class LentDrainsTest {
  private static final int ASKER = 7; // its thread id

  private final LentDrains drains = new LentDrains();
  private final TestDrain drain = new TestDrain(() -> {});

  private LentDrain lend(CarriedDrain lent) {
    return drains.add(lent, ASKER);
  }

  private List<CarriedDrain> takeBackOld() {
    var taken = new ArrayList<CarriedDrain>();
    drains.takeBackOld(taken::add);
    return taken;
  }

  @Test
  void drainThatWaitsForTwoChecksIsTakenBackOnce() {
    var entry = lend(drain);

    assertTrue(drains.hasWaiting());
    assertEquals(List.of(), takeBackOld());
    assertEquals(List.of(drain), takeBackOld());
    assertFalse(drains.hasWaiting());
    assertEquals(List.of(), takeBackOld());

    entry.run();
    assertEquals(0, drain.runs.get());
  }

  @Test
  void drainIsTakenBackLaterIfMemoryIsExhausted() {
    lend(drain);
    takeBackOld();
    assertThrows(OutOfMemoryError.class, () -> drains.takeBackOld(late -> {
      throw new OutOfMemoryError("planned");
    }));

    assertEquals(List.of(drain), takeBackOld());
  }

  @Test
  void drainThatHasBegunIsNotTakenBack() {
    var entry = lend(drain);
    takeBackOld();

    entry.run();

    assertEquals(List.of(), takeBackOld());
    assertFalse(drains.hasWaiting());
    entry.run();
    assertEquals(1, drain.runs.get());
  }

  @Test
  void oldDrainIsTakenBackBelowNewerOnes() {
    lend(drain);
    takeBackOld();
    lend(new TestDrain(() -> {})).run();
    lend(new TestDrain(() -> {}));

    assertEquals(List.of(drain), takeBackOld());
  }

  @Test
  void drainsOfAllAskersAreTakenBack() {
    var lent = new ArrayList<CarriedDrain>();
    for (int asker = 0; asker < 1_000; asker++) {
      var ownDrain = new TestDrain(() -> {});
      lent.add(ownDrain);
      drains.add(ownDrain, asker);
    }
    takeBackOld();

    var taken = takeBackOld();

    assertEquals(lent.size(), taken.size());
    assertTrue(taken.containsAll(lent));
  }

  /** Without the watch, a list in which the newest entry always waits would keep all entries. */
  @Test
  void watchDropsBegunEntriesBetweenWaitingEntries() {
    var oldest = lend(new TestDrain(() -> {}));
    var second = lend(drain);
    var begun = lend(new TestDrain(() -> {}));
    var newest = lend(new TestDrain(() -> {}));
    oldest.run();
    begun.run();
    assertEquals(begun, newest.next);

    takeBackOld();

    assertEquals(second, newest.next);
    assertNull(second.next);
  }

  @Test
  void drainsAreNotLentForSomeTimeAfterLateDrain() {
    lend(drain);
    takeBackOld();
    assertTrue(drains.maySucceed());

    takeBackOld();

    for (int i = 0; i < LentDrains.SKIPS; i++) assertFalse(drains.maySucceed());
    assertTrue(drains.maySucceed());
  }

  @Test
  void newEntryDropsBegunEntries() {
    lend(new TestDrain(() -> {})).run();
    var waiting = lend(drain);
    lend(new TestDrain(() -> {})).run();
    lend(new TestDrain(() -> {})).run();

    var entry = lend(new TestDrain(() -> {}));

    assertEquals(waiting, entry.next);
    assertNull(waiting.next);
  }
}
