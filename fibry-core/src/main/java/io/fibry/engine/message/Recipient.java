package io.fibry.engine.message;

import io.fibry.DeadLetter.Reason;

/** An actor, as seen by a request to it. */
public interface Recipient extends Wait.WaitTarget {
  void onWithdrawn(RequestFuture<?> request, Reason reason);

  /**
   * Removes the promise of an answer. {@code isAbandoned} is false if the answer has arrived, and
   * true if the asker no longer waits.
   */
  void removePromise(RequestFuture<?> request, boolean isAbandoned);

  /**
   * Runs the code on another thread. Until it has run, {@code awaitQuiescence} of the scope waits.
   */
  void runOffThread(Runnable code);

  /**
   * Runs the code on a fiber. Until it has run, {@code awaitQuiescence} of the actor's scope waits.
   * Returns false if no fiber can be started.
   */
  boolean tryRunOnFiber(Runnable code);

  Diagnosis diagnose(RequestFuture<?> request);

  /** Remembers which message the actor handles now, for a later diagnosis. */
  void rememberStart(RequestFuture<?> request);
}
