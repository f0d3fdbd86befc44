package io.fibry.simulation;

import io.fibry.simulation.run.FaultKind;
import io.fibry.text.Lines;
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
   * @param request the replay that the first run was made for; it is in the text if the replay of
   * the shown run is too long to be copied by hand
   * @param firstRun the run that failed first
   * @param shownRun the shortest run that fails, with its trace
   * @param note a text about the shorter run, printed after the number of steps
   */
  static SimulationFailure of(RunReplay request, RunOutcome firstRun, RunOutcome shownRun, String note) {
    var failure = shownRun.failure() == null ? firstRun.failure() : shownRun.failure();
    var text = new StringBuilder("seed ").append(firstRun.replay().seed()).append(" fails after ")
        .append(Lines.count(firstRun.steps(), "step")).append(note).append('\n').append(failure.text()).append('\n');
    if (!shownRun.struckFaults().isEmpty())
      text.append("faults: ")
          .append(shownRun.struckFaults().stream().map(FaultKind::label).collect(Collectors.joining(", ")))
          .append('\n');
    if (shownRun.trace() != null) text.append(shownRun.trace());
    var replay = shownRun.replay().isShort() ? shownRun.replay() : request;
    text.append("again: -Dfibry.simulation=").append(replay);
    return new SimulationFailure(text.toString(), shownRun, replay, failure.cause());
  }
}
