package io.fibry.carriers;

import static io.fibry.carriers.CarrierWatch.MAX_PAUSE;
import static io.fibry.carriers.CarrierWatch.MIN_PAUSE;
import static io.fibry.carriers.CarrierWatch.pauseAfter;
import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class CarrierWatchTest {
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
}
