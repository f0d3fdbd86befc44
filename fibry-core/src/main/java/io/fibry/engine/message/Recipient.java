package io.fibry.engine.message;

import io.fibry.DeadLetter.Reason;

/** An actor, as seen by a request to it. */
public interface Recipient extends Wait.WaitTarget {
  void onWithdrawn(RequestFuture<?> request, Reason reason);

  /** Called when the promised answer has arrived, or its asker has given up. */
  void removePromise(RequestFuture<?> request, boolean abandoned);

  /** On another thread; until it has run, the actor's scope is not quiet. */
  void runOffThread(Runnable code);

  /** Does the same on a fiber, or returns false if no fiber can be started. */
  boolean tryRunOnFiber(Runnable code);

  Diagnosis diagnose(RequestFuture<?> request);

  /** Notes what it does now, for a later diagnosis. */
  void rememberStart(RequestFuture<?> request);
}
