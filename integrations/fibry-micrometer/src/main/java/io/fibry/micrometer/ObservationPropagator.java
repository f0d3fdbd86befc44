package io.fibry.micrometer;

import io.fibry.ContextPropagator;
import io.micrometer.context.ContextSnapshot;
import io.micrometer.context.ContextSnapshotFactory;

/**
 * Carries the context that {@code io.micrometer:context-propagation} captures: the sender's
 * observation, and with it the trace. Thus the spans and log lines of a handler belong to the
 * trace of the sender. Thread-safe.
 * {@snippet class="io.fibry.micrometer.ObservationPropagatorTest" region="propagator"}
 *
 * <p>While the handler runs, values that the sender did not have are cleared, because the handler's
 * thread may have values of its own. Inline requests run on the asker's thread and need no context
 * propagator.
 */
public final class ObservationPropagator implements ContextPropagator<ContextSnapshot> {
  private final ContextSnapshotFactory snapshots = ContextSnapshotFactory.builder().clearMissing(true).build();

  /** Makes a propagator for the options of a scope. */
  public ObservationPropagator() {}

  @Override
  public ContextSnapshot capture() {
    return snapshots.captureAll();
  }

  @Override
  public AutoCloseable restore(ContextSnapshot captured) {
    return captured.setThreadLocals();
  }
}
