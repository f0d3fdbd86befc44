package io.fibry.pool;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/**
 * A birth, on the thread of who used the key first. Others wait for it; among them may be threads
 * that give birth themselves, and those must not wait for one another in a ring.
 */
final class EntityBirth {
  // for which one a thread waits; guarded by itself
  private static final Map<Thread, EntityBirth> WAITING = new HashMap<>();

  private final Object key;
  private final Thread thread = Thread.currentThread();
  private final CompletableFuture<Void> over = new CompletableFuture<>();
  private Throwable failure; // null: none; written before it is over

  EntityBirth(Object key) {
    this.key = key;
  }

  void end() {
    over.complete(null);
  }

  void fail(Throwable thrown) {
    failure = thrown;
    over.complete(null);
  }

  /** Completes when it is over, well or not. */
  CompletableFuture<Void> over() {
    return over;
  }

  /** Waits until it is over, and throws what it threw. */
  void await() {
    synchronized (WAITING) {
      refuseRing();
      WAITING.put(Thread.currentThread(), this);
    }
    try {
      over.get();
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
    if (failure != null) throw EntityBirth.<RuntimeException>sneak(failure);
  }

  /**
   * From this birth to the one that its thread waits for, and so on: back at our own thread the
   * wait would have no end.
   */
  void refuseRing() {
    synchronized (WAITING) {
      for (var at = this; at != null && !at.over.isDone(); at = WAITING.get(at.thread))
        if (at.thread == Thread.currentThread())
          throw new IllegalStateException("the birth of entity " + at.key + " uses entity " + key
              + ", which waits for it to be born: let birth only make the actor, and use other entities from its "
              + "handler or initialState");
    }
  }

  @SuppressWarnings("unchecked") // the point of it: what birth threw leaves as itself
  private static <T extends Throwable> T sneak(Throwable failure) throws T {
    throw (T) failure;
  }
}
