package io.fibry.carriers;

import static io.fibry.carriers.CarrierWatch.MAX_PAUSE;
import static io.fibry.carriers.CarrierWatch.MIN_PAUSE;
import static io.fibry.carriers.CarrierWatch.pauseAfter;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.carriers.CarrierWatch.SurplusTime;
import org.junit.jupiter.api.Test;

class CarrierWatchTest {
  private static final long MILLI = 1_000_000;

  private final SurplusTime surplusTime = new SurplusTime();

  @Test
  void pauseIsShortWhileEntryWaitsAndCarrierIsFree() {
    assertEquals(MIN_PAUSE, pauseAfter(MAX_PAUSE, true, false));
  }

  @Test
  void pauseGrowsWhileAllCarriersAreBusyOrNoEntryWaits() {
    assertEquals(2 * MIN_PAUSE, pauseAfter(MIN_PAUSE, true, true));
    assertEquals(2 * MIN_PAUSE, pauseAfter(MIN_PAUSE, false, false));
    assertEquals(MAX_PAUSE, pauseAfter(MAX_PAUSE, true, true));
  }

  /** Checks each millisecond, with a surplus in some of ten checks. Returns when it is long. */
  private long millisUntilLong(int withSurplus) {
    for (long time = 1; time <= 10_000; time++)
      if (surplusTime.isLong(time % 10 < withSurplus, time * MILLI)) return time;
    return -1;
  }

  @Test
  void surplusOf100MillisIsLong() {
    assertEquals(101, millisUntilLong(10));
    assertFalse(surplusTime.isLong(true, 102 * MILLI));
  }

  @Test
  void surplusIsLongAlthoughCarrierSeemsStuckMostOfTheTime() {
    assertTrue(millisUntilLong(3) > 300);
  }

  @Test
  void sparesOfCarriersThatAreStuckRemain() {
    assertEquals(-1, millisUntilLong(0));
    assertEquals(-1, millisUntilLong(1));
  }

  @Test
  void suspensionOfWatchDoesNotCountAsSurplus() {
    assertFalse(surplusTime.isLong(true, 10_000 * MILLI));
  }
}
