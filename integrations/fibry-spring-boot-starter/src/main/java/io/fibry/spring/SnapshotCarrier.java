package io.fibry.spring;

import io.fibry.ActorScope;
import io.micrometer.context.ContextSnapshot;
import io.micrometer.context.ContextSnapshotFactory;

/**
 * Carries the thread-locals of context-propagation. Clears those that the sender lacks, since the
 * handler's thread may have its own.
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
