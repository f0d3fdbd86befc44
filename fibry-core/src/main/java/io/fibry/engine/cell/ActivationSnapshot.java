package io.fibry.engine.cell;

import io.fibry.engine.message.Diagnosis.HandlerStack;
import java.lang.ref.WeakReference;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * What an observer saw of an activation. Shared for 0.1 s: a stack costs as much as a hundred
 * messages, and a stuck actor has many askers. Keeps no user objects.
 */
final class ActivationSnapshot {
  /** When the activation began with this node, or an observer first found it there. */
  record FirstSeen(WeakReference<Object> node, long nanos) {}

  /** {@code activity} follows "the actor"; {@code stack} is the handler's, or null. */
  record Observation(String activity, HandlerStack stack) {}

  /** {@code complete}: there were no more. */
  record QueuePlaces(Map<Object, Integer> places, boolean complete) {}

  final long made = System.nanoTime();
  final long taken; // by the clock of the scope
  final FirstSeen step; // null: of a message without steps, or between two
  final CompletableFuture<Observation> seen = new CompletableFuture<>();
  volatile WeakReference<QueuePlaces> places = new WeakReference<>(null);

  ActivationSnapshot(long taken, FirstSeen step) {
    this.taken = taken;
    this.step = step;
  }
}
