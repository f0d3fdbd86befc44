package io.fibry.simulation;

import java.util.stream.Collectors;

/**
 * Makes the failure of a simulation. Its text has the run, the cause, the events before the
 * failure, and the line that repeats the run.
 */
final class FailureReport {
  private FailureReport() {}

  /**
   * Makes the failure.
   *
   * @param first the run that failed first
   * @param shown the shortest run that fails, with its trace
   * @param note a text behind the number of steps, about the shorter run
   */
  static SimulationFailure of(RunOutcome first, RunOutcome shown, String note) {
    var failure = shown.failure() == null ? first.failure() : shown.failure();
    var text = new StringBuilder("seed ").append(first.replay().seed()).append(" fails after ").append(first.steps())
        .append(" steps").append(note).append('\n').append(failure.text()).append('\n');
    if (!shown.struckFaults().isEmpty())
      text.append("faults: ")
          .append(shown.struckFaults().stream().map(FaultKind::label).collect(Collectors.joining(", ")))
          .append('\n');
    if (shown.trace() != null) text.append(shown.trace());
    text.append("again: -Dfibry.simulation=").append(shown.replay().shortened());
    return new SimulationFailure(text.toString(), shown, failure.cause());
  }
}
