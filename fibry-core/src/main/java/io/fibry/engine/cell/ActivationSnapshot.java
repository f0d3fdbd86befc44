package io.fibry.engine.cell;

import io.fibry.engine.message.Diagnosis.HandlerStack;
import java.lang.ref.WeakReference;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * The activity of an activation as an observer saw it. Observers share it for 0.1 s, because a
 * stack trace costs as much as a hundred messages, and many askers may wait for a blocked actor.
 * Refers to no user object.
 */
final class ActivationSnapshot {
  /** When the activation began with the node or step, or when an observer first found it there. */
  record FirstSeen(WeakReference<Object> node, long startNanos) {}

  /**
   * The activity as a text that follows "the actor", and the stack of the handler, or null if none
   * is known.
   */
  record Observation(String activity, HandlerStack stack) {}

  /** The position of each waiting node, from 1; {@code complete} if no further node waits. */
  record QueuePlaces(Map<Object, Integer> places, boolean complete) {}

  final long madeNanos = System.nanoTime(); // real time
  final long takenNanos; // nanoseconds of the scope's clock
  final FirstSeen step; // null for a message without steps, or between two steps
  final CompletableFuture<Observation> observation = new CompletableFuture<>();
  volatile WeakReference<QueuePlaces> places = new WeakReference<>(null);

  ActivationSnapshot(long taken, FirstSeen step) {
    this.takenNanos = taken;
    this.step = step;
  }
}
