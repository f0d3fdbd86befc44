package io.fibry.simulation;

import static io.fibry.simulation.StepWatchdog.StepVerdict.COMPUTES;
import static io.fibry.simulation.StepWatchdog.StepVerdict.CONTINUES;
import static io.fibry.simulation.StepWatchdog.StepVerdict.WAITS;
import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

/** Looks at a step, by a carrier whose processor time the test gives. */
class StepWatchTest {
  private static final long SECOND = 1_000_000_000;

  private final StepWatchdog watch = new StepWatchdog(10);
  private long processor = 77 * SECOND; // of the steps before
  private long step = 1;

  private StepWatchdog.StepVerdict look(long more, boolean waiting) {
    processor += more;
    return watch.check(step, processor, waiting);
  }

  private void goesOn(int looks, long more, boolean waiting) {
    for (int i = 0; i < looks; i++) assertEquals(CONTINUES, look(more, waiting), "look " + i);
  }

  @Test
  @Promise("29.22")
  void stepContinuesUntilItsProcessorTimeIsUsed() {
    goesOn(100, SECOND / 10, false);

    assertEquals(COMPUTES, look(SECOND / 10, false));
  }

  @Test
  @Promise("29.22")
  void stepWithoutProcessorForSecondsContinues() {
    for (int i = 0; i < 20; i++) {
      goesOn(30, 0, false);
      goesOn(1, 1, false);
    }
  }

  @Test
  @Promise("29.22")
  void stepSeenWaitingCountsAsWaiting() {
    goesOn(10, 0, true);

    assertEquals(WAITS, look(0, true));
  }

  /** Such as in native code, or for a class that another thread initializes. */
  @Test
  @Promise("29.22")
  void runningStepWithoutProcessorTimeCountsAsWaiting() {
    goesOn(60, 0, false);

    assertEquals(WAITS, look(0, false));
  }

  /** Such as a loop that waits for a millisecond again and again. */
  @Test
  void pollingStepCountsAsWaiting() {
    goesOn(10, 1_000, true);

    assertEquals(WAITS, look(1_000, true));
  }

  @Test
  void nextStepIsMeasuredAnew() {
    goesOn(10, SECOND / 2, true);

    step++;

    goesOn(10, SECOND / 2, true);
  }
}
