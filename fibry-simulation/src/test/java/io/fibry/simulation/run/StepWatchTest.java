package io.fibry.simulation.run;

import static io.fibry.simulation.run.StepWatchdog.StepVerdict.COMPUTES;
import static io.fibry.simulation.run.StepWatchdog.StepVerdict.CONTINUES;
import static io.fibry.simulation.run.StepWatchdog.StepVerdict.WAITS;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.simulation.Promise;
import org.junit.jupiter.api.Test;

/** Tests the watchdog of steps with a carrier whose processor time the test sets. */
class StepWatchTest {
  private static final long SECOND = 1_000_000_000;

  private final StepWatchdog watchdog = new StepWatchdog(10);
  private long processorTime = 77 * SECOND; // begins with the time of earlier steps
  private long step = 1;

  private StepWatchdog.StepVerdict check(long moreTime, boolean isWaiting) {
    processorTime += moreTime;
    return watchdog.check(step, processorTime, isWaiting);
  }

  private void assertContinues(int checks, long moreTime, boolean isWaiting) {
    for (int i = 0; i < checks; i++) assertEquals(CONTINUES, check(moreTime, isWaiting), "check " + i);
  }

  @Test
  @Promise("29.22")
  void stepCountsAsComputingAfterTenSecondsOfProcessorTime() {
    assertContinues(100, SECOND / 10, false);

    assertEquals(COMPUTES, check(SECOND / 10, false));
  }

  @Test
  @Promise("29.22")
  void stepThatRarelyGetsProcessorIsNotReported() {
    for (int i = 0; i < 20; i++) {
      assertContinues(30, 0, false);
      assertContinues(1, 1, false);
    }
  }

  @Test
  @Promise("29.22")
  void stepThatWaitsAtEachCheckCountsAsWaiting() {
    assertContinues(10, 0, true);

    assertEquals(WAITS, check(0, true));
  }

  /** Such a step is in native code, or waits for a class that another thread initializes. */
  @Test
  @Promise("29.22")
  void runningStepWithoutProcessorTimeCountsAsWaiting() {
    assertContinues(60, 0, false);

    assertEquals(WAITS, check(0, false));
  }

  /** Such a step is a loop that waits for a millisecond again and again. */
  @Test
  void pollingStepCountsAsWaiting() {
    assertContinues(10, 1_000, true);

    assertEquals(WAITS, check(1_000, true));
  }

  @Test
  void processorTimeOfStepExcludesEarlierSteps() {
    assertContinues(10, SECOND / 2, true);

    step++;

    assertContinues(10, SECOND / 2, true);
  }
}
