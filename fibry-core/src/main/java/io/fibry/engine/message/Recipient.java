package io.fibry.engine.message;

import io.fibry.DeadLetter.Reason;

/** An actor, as seen by a request to it. */
public interface Recipient extends Wait.WaitTarget {
  void onWithdrawn(RequestFuture<?> request, Reason reason);

  /**
   * Called when the promised answer has arrived, or its asker has given up and the promise is
   * abandoned.
   */
  void removePromise(RequestFuture<?> request, boolean isAbandoned);

  /** Runs the code on another thread. Until it has run, the actor's scope is not quiet. */
  void runOffThread(Runnable code);

  /**
   * Runs the code on a fiber. Until it has run, the actor's scope is not quiet. Returns false if no
   * fiber can be started.
   */
  boolean tryRunOnFiber(Runnable code);

  Diagnosis diagnose(RequestFuture<?> request);

  /** Remembers which message the actor handles now, for a later diagnosis. */
  void rememberStart(RequestFuture<?> request);
}
