package io.fibry.engine.cell;

import io.fibry.engine.message.Diagnosis.HandlerStack;
import java.lang.ref.WeakReference;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * The activity of an activation as an observer saw it. Observers share a snapshot for 0.1 s,
 * because a stack trace costs as much as a hundred messages, and many askers of a blocked actor may
 * time out together. Refers to no user object.
 */
final class ActivationSnapshot {
  /**
   * A node, or a step of a {@code MultiStepMessage}, that the activation handles. {@code
   * startNanos} is when it began or, if that was not recorded, when an observer first saw it.
   */
  record FirstSeen(WeakReference<Object> nodeOrStep, long startNanos, boolean isStartRecorded) {}

  /** The activity, and the stack of the handler, or null if none is known. */
  record Observation(Activity activity, HandlerStack stack) {}

  /**
   * The position of each waiting node, counted from 1. {@code complete} is true if all waiting
   * nodes were counted.
   */
  record QueuePositions(Map<Object, Integer> positions, boolean complete) {}

  final long madeNanos = System.nanoTime(); // not by the scope's clock, which a test may stop
  final long takenNanos; // nanoseconds of the scope's clock
  final FirstSeen step; // null unless a step of a MultiStepMessage was running
  final CompletableFuture<Observation> observation = new CompletableFuture<>();
  volatile WeakReference<QueuePositions> queuePositions = new WeakReference<>(null);

  ActivationSnapshot(long takenNanos, FirstSeen step) {
    this.takenNanos = takenNanos;
    this.step = step;
  }
}
