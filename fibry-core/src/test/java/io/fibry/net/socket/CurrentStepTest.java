package io.fibry.net.socket;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.support.Patience;
import io.fibry.testing.Promise;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class CurrentStepTest {
  private final CurrentStep step = new CurrentStep();
  private final List<Duration> times = new ArrayList<>();

  /** Waits, and returns the nanoseconds that passed at least. */
  private static long pass20Millis() {
    long startNanos = System.nanoTime();
    Patience.eventually(() -> System.nanoTime() - startNanos >= 20_000_000);
    return 20_000_000;
  }

  @Promise("19.16")
  @Test
  void timeOfStepExcludesItsPauses() {
    step.onStepEnd(times::add);
    long startNanos = System.nanoTime();
    step.begin("the first");
    long workedNanos = pass20Millis();
    step.pause();
    long pausedNanos = pass20Millis();
    step.resume();
    workedNanos += pass20Millis();
    step.pause();
    pausedNanos += pass20Millis();
    step.resume();
    step.end();
    long totalNanos = System.nanoTime() - startNanos;

    long timedNanos = times.getFirst().toNanos();
    assertTrue(timedNanos >= workedNanos && timedNanos <= totalNanos - pausedNanos,
        () -> times + " of " + totalNanos + " ns");
  }

  @Promise("19.16")
  @Test
  void timeOfReplacedStepIsNotAddedToNextStep() {
    step.onStepEnd(times::add);
    step.begin("the first");
    long replacedNanos = pass20Millis();
    long startNanos = System.nanoTime();
    step.begin("the second");
    step.end();
    long totalNanos = System.nanoTime() - startNanos;

    assertEquals(1, times.size());
    assertTrue(times.getFirst().toNanos() <= totalNanos, () -> times + ", replaced " + replacedNanos + " ns");
  }

  @Promise("19.16")
  @Test
  void onlyCompletedStepsAreTimed() {
    step.onStepEnd(times::add);
    step.begin("failed");
    step.fail();
    step.endLast();
    step.beginUncounted("not counted");
    step.endLast();
    assertEquals(List.of(), times);
    assertEquals(0, step.completedSteps());

    step.begin("hidden");
    step.hide();
    step.endLast();
    step.endLast();

    assertEquals(1, times.size());
    assertEquals(1, step.completedSteps());
  }

  @Promise("19.16")
  @Test
  void stepListenerIsNotCalledAfterItIsClosed() throws Exception {
    var first = step.onStepEnd(times::add);
    var others = new ArrayList<Duration>();
    step.onStepEnd(others::add);
    step.begin("the first");
    step.end();

    first.close();
    step.begin("the second");
    step.end();

    assertEquals(List.of(1, 2), List.of(times.size(), others.size()));
  }
}
