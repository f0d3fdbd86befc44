package io.fibry.spring;

import io.fibry.ActorScope;
import io.micrometer.context.ContextSnapshot;
import io.micrometer.context.ContextSnapshotFactory;

/**
 * Carries all thread-locals that are registered with context-propagation. Those that the sender did
 * not have are cleared while the message is handled: the handler's thread may have values of its
 * own.
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
