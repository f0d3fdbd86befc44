package io.fibry.simulation;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * How a run went.
 *
 * @param replay repeats it
 * @param failure null: it went well
 * @param hash of which thread ran when
 * @param time in nanoseconds of the run's clock
 * @param struckFaults faults that happened
 * @param trace the diagram of the run, if it was wanted
 */
record RunOutcome(RunReplay replay, @Nullable RunFailure failure, long steps, long hash, long time,
    Set<FaultKind> struckFaults,
    @Nullable MessageTrace trace) {

  boolean failed() {
    return failure != null;
  }

  Decisions decisions() {
    return replay.decisions();
  }
}
