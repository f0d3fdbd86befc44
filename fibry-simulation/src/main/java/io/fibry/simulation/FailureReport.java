package io.fibry.simulation;

import java.util.stream.Collectors;

/** A failure as text: its run, its cause, the events before it, and the line that repeats it. */
final class FailureReport {
  private FailureReport() {}

  /** @param shown the shortest run that fails, with its trace */
  static SimulationFailure of(RunOutcome first, RunOutcome shown, String how) {
    var failure = shown.failure() == null ? first.failure() : shown.failure();
    var text = new StringBuilder("seed ").append(first.replay().seed()).append(" fails after ").append(first.steps())
        .append(" steps").append(how).append('\n').append(failure.text()).append('\n');
    if (!shown.struckFaults().isEmpty())
      text.append("faults: ")
          .append(shown.struckFaults().stream().map(FaultKind::label).collect(Collectors.joining(", ")))
          .append('\n');
    if (shown.trace() != null) text.append(shown.trace());
    text.append("again: -Dfibry.simulation=").append(shown.replay().shortened());
    return new SimulationFailure(text.toString(), shown, failure.cause());
  }
}
