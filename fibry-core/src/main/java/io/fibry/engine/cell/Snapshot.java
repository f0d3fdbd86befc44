package io.fibry.engine.cell;

import io.fibry.engine.message.Diagnosis.HandlerStack;
import java.lang.ref.WeakReference;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * What an observer saw of an activation. Observers share it for 0.1 s: a stack costs as much as a
 * hundred messages, and when an actor is stuck, all its askers want to know. It keeps texts and names
 * of methods, no user objects.
 */
final class Snapshot {
  /**
   * At which node an activation was found, and when. No clock is read at each message, so it has been
   * at it for at least this long.
   */
  record Since(WeakReference<Object> node, long nanos) {}

  /** What the actor does, in words that follow "the actor"; and the stack of its handler, or null. */
  record Seen(String doing, HandlerStack stack) {}

  /** The places in the queue of the first nodes that wait; {@code all}: there were no more. */
  record QueuePlaces(Map<Object, Integer> places, boolean all) {}

  final long taken; // by the clock of the scope
  // an observer calls user code for a text; shared with the snapshots before, while it does
  final AtomicBoolean asksForText;
  final CompletableFuture<Seen> seen = new CompletableFuture<>();
  volatile WeakReference<QueuePlaces> places = new WeakReference<>(null); // any observer makes them

  Snapshot(long taken, Snapshot before) {
    this.taken = taken;
    this.asksForText = before == null ? new AtomicBoolean() : before.asksForText;
  }
}
