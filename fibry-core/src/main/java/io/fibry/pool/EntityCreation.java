package io.fibry.pool;

import io.fibry.block.Throwables;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/**
 * The birth of an actor: the call of the user's function that makes it, on the thread that used the
 * key first.
 */
final class EntityCreation {
  // the births that threads wait for, by waiting thread; guarded by the map itself
  private static final Map<Thread, EntityCreation> WAITING = new HashMap<>();

  private final Object key;
  final Thread creator = Thread.currentThread(); // makes the actor
  // completes with the exception of the birth, or with null if it succeeded
  final CompletableFuture<Throwable> completion = new CompletableFuture<>();

  EntityCreation(Object key) {
    this.key = key;
  }

  /** Ends the birth. A failure of null means that it succeeded. */
  void complete(Throwable failure) {
    completion.complete(failure);
  }

  /** Waits for the end of the birth, and throws its exception, if any. */
  void await() {
    var failure = awaitFailure();
    if (failure != null) throw Throwables.<RuntimeException>sneakyThrow(failure);
  }

  /** Waits for the end of the birth, and returns its exception, or null if it succeeded. */
  Throwable awaitFailure() {
    await(() -> completion.get() == null);
    return completion.join();
  }

  /** Waits for the end of the birth. Returns false if the limit is over before the birth. */
  boolean awaitFor(Duration limit, Scheduler clock) {
    return await(() -> clock.awaitDone(completion, limit));
  }

  private interface CreationWait {
    boolean await() throws InterruptedException, ExecutionException;
  }

  private boolean await(CreationWait creationWait) {
    synchronized (WAITING) {
      refuseCycle();
      WAITING.put(Thread.currentThread(), this);
    }
    try {
      return creationWait.await();
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
   * Throws if this thread would wait for itself: each creator from this birth on waits for a birth
   * by the next creator, up to this thread.
   */
  void refuseCycle() {
    synchronized (WAITING) {
      for (var birth = this; birth != null && !birth.completion.isDone(); birth = WAITING.get(birth.creator))
        if (birth.creator == Thread.currentThread())
          throw new IllegalStateException(EntityHelpers.name(birth.key)
              + " cannot be made: the function `birth` uses " + EntityHelpers.name(key)
              + ", whose birth waits for this thread; only make the actor in this function, and use other entities in "
              + "the handler or in initialState");
    }
  }
}
