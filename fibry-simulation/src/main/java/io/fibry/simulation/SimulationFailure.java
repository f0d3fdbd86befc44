package io.fibry.simulation;

import org.jspecify.annotations.Nullable;

/**
 * A run of a program that went wrong: its seed, why, the shortest order of events that does it, and
 * how to see it again. Immutable.
 */
public final class SimulationFailure extends AssertionError {
  private static final long serialVersionUID = 1;

  /** The seed of the run that failed. */
  private final long seed;
  /** The shortest run that fails. */
  private final String replay;
  /** The events of the run, or empty if they are not known. */
  private final String diagram;

  SimulationFailure(String text, RunOutcome outcome, @Nullable Throwable cause) {
    super(text, cause);
    this.seed = outcome.replay().seed();
    this.replay = outcome.replay().shortened().toString();
    this.diagram = outcome.trace() == null ? "" : outcome.trace().diagram();
  }

  /** {@return the seed of the run that failed} */
  public long seed() {
    return seed;
  }

  /** {@return the shortest run that fails, for {@link Simulation.Options#withReplay}} */
  public String replay() {
    return replay;
  }

  /** {@return the events of that run as a sequence diagram of Mermaid} */
  public String diagram() {
    return diagram;
  }
}
