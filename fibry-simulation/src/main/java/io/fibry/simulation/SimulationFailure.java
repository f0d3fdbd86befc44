package io.fibry.simulation;

import org.jspecify.annotations.Nullable;

/**
 * Reports that a run of a program failed. Before it is thrown, the simulation looks for a shorter
 * run that fails in the same way. The message has the seed, the reason, the events of the shortest
 * run, and the line that repeats this run. Immutable.
 */
public final class SimulationFailure extends AssertionError {
  private static final long serialVersionUID = 1;

  /** The seed of the run that failed. */
  private final long seed;
  /** The line that repeats the shortest run that fails in the same way, or the first run. */
  private final String replay;
  /** A diagram of the events of the shortest run, or empty if they were not recorded. */
  private final String diagram;

  SimulationFailure(String text, RunOutcome outcome, RunReplay replay, @Nullable Throwable cause) {
    super(text, cause);
    this.seed = outcome.replay().seed();
    this.replay = replay.toString();
    this.diagram = outcome.trace() == null ? "" : outcome.trace().diagram();
  }

  /** {@return the seed of the run that failed} */
  public long seed() {
    return seed;
  }

  /**
   * {@return the line that repeats the shortest run found, for {@link
   * Simulation.Options#withReplay}, or the first run if that line would be long}
   */
  public String replay() {
    return replay;
  }

  /** {@return the events of the shortest run found, as a sequence diagram of Mermaid, or empty} */
  public String diagram() {
    return diagram;
  }
}
