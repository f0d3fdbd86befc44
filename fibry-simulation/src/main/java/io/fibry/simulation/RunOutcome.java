package io.fibry.simulation;

import io.fibry.simulation.run.Decisions;
import io.fibry.simulation.run.FaultKind;
import io.fibry.simulation.run.MessageTrace;
import io.fibry.simulation.run.RunFailure;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The outcome of a run.
 *
 * @param replay the data that repeats the run
 * @param failure why the run failed, or null if it did not fail
 * @param steps the number of steps
 * @param hash a hash of the order of the threads and timers: equal orders have equal hashes
 * @param simulatedNanos the time at the end of the run, in nanoseconds of its clock
 * @param struckFaults the kinds of faults that struck
 * @param trace the events of the run, or null if they were not recorded
 */
record RunOutcome(RunReplay replay, @Nullable RunFailure failure, long steps, long hash, long simulatedNanos,
    Set<FaultKind> struckFaults,
    @Nullable MessageTrace trace) {

  boolean hasFailed() {
    return failure != null;
  }

  Decisions decisions() {
    return replay.decisions();
  }
}
