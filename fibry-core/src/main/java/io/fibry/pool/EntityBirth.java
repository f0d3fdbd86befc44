package io.fibry.pool;

import io.fibry.block.Rethrown;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/** The birth of an actor, on the thread that used its key first. */
final class EntityBirth {
  // what a thread waits for; guarded by itself
  private static final Map<Thread, EntityBirth> WAITING = new HashMap<>();

  private final Object key;
  private final Thread thread = Thread.currentThread();
  final CompletableFuture<Throwable> end = new CompletableFuture<>();

  EntityBirth(Object key) {
    this.key = key;
  }

  /** Null: it succeeded. */
  void end(Throwable failure) {
    end.complete(failure);
  }

  /** Throws what the birth threw. */
  void await() {
    synchronized (WAITING) {
      refuseRing();
      WAITING.put(Thread.currentThread(), this);
    }
    Throwable failure;
    try {
      failure = end.get();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new CancellationException("interrupted while waiting for the birth of entity " + key);
    } catch (ExecutionException impossible) {
      throw new AssertionError(impossible);
    } finally {
      synchronized (WAITING) {
        WAITING.remove(Thread.currentThread());
      }
    }
    if (failure != null) throw Rethrown.<RuntimeException>as(failure);
  }

  /** Follows the waits from this birth: one that comes back to this thread would never end. */
  void refuseRing() {
    synchronized (WAITING) {
      for (var at = this; at != null && !at.end.isDone(); at = WAITING.get(at.thread))
        if (at.thread == Thread.currentThread())
          throw new IllegalStateException("the birth of entity " + at.key + " uses entity " + key
              + ", which waits for it to be born: let birth only make the actor, and use other entities from its "
              + "handler or initialState");
    }
  }
}
