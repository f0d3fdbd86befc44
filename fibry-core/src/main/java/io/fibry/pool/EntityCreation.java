package io.fibry.pool;

import io.fibry.block.Throwables;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/** The birth of an actor, on the thread that used its key first. */
final class EntityCreation {
  // what a thread waits for; guarded by itself
  private static final Map<Thread, EntityCreation> WAITING = new HashMap<>();

  private final Object key;
  final Thread thread = Thread.currentThread(); // makes the actor
  final CompletableFuture<Throwable> end = new CompletableFuture<>();

  EntityCreation(Object key) {
    this.key = key;
  }

  /** A failure of null means that the birth succeeded. */
  void end(Throwable failure) {
    end.complete(failure);
  }

  /** Throws what the birth threw. */
  void await() {
    var failure = outcome();
    if (failure != null) throw Throwables.<RuntimeException>sneakyThrow(failure);
  }

  /** Waits for the end of the birth, and returns its exception, or null if it succeeded. */
  Throwable outcome() {
    await(() -> end.get() == null);
    return end.join();
  }

  /** Waits for the end for a while. */
  boolean awaitFor(Duration limit, Scheduler clock) {
    return await(() -> clock.awaitDone(end, limit));
  }

  private interface CreationWait {
    boolean await() throws InterruptedException, ExecutionException;
  }

  private boolean await(CreationWait waiting) {
    synchronized (WAITING) {
      refuseCycle();
      WAITING.put(Thread.currentThread(), this);
    }
    try {
      return waiting.await();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new CancellationException("interrupted while waiting for the birth of " + EntityHelpers.name(key));
    } catch (ExecutionException impossible) {
      throw new AssertionError(impossible);
    } finally {
      synchronized (WAITING) {
        WAITING.remove(Thread.currentThread());
      }
    }
  }

  /**
   * Follows the waits from this birth, because a chain of waits back to this thread would never
   * end.
   */
  void refuseCycle() {
    synchronized (WAITING) {
      for (var at = this; at != null && !at.end.isDone(); at = WAITING.get(at.thread))
        if (at.thread == Thread.currentThread())
          throw new IllegalStateException("the birth of " + EntityHelpers.name(at.key) + " uses "
              + EntityHelpers.name(key)
              + ", which waits for it to be born: let birth only make the actor, and use other entities from its "
              + "handler or initialState");
    }
  }
}
