package io.fibry.spring;

import io.fibry.ActorScope;
import io.micrometer.context.ContextSnapshot;
import io.micrometer.context.ContextSnapshotFactory;

/**
 * Takes along all thread-locals that context-propagation has been told of. What the sender had none
 * of is cleared while the message is handled: a thread that is not ours may have one of its own.
 */
final class SnapshotCarrier implements ActorScope.Carrier<ContextSnapshot> {
  private final ContextSnapshotFactory snapshots = ContextSnapshotFactory.builder().clearMissing(true).build();

  @Override
  public ContextSnapshot capture() {
    return snapshots.captureAll();
  }

  @Override
  public AutoCloseable set(ContextSnapshot captured) {
    return captured.setThreadLocals();
  }
}
