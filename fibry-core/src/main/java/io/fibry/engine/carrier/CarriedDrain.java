package io.fibry.engine.carrier;

/** A drain of an actor, run by a thread that runs other drains before and after it. */
public interface CarriedDrain extends Runnable {
  /** Runs the drain, unless an earlier call has run it. Returns whether this call ran the drain. */
  boolean runOnce();

  /**
   * Returns whether this drain should run on the carrier on which it was woken, because its
   * messages take less time than their move to another carrier. Called by any thread.
   */
  default boolean isNear() {
    return false;
  }

  /**
   * Returns whether the caller of {@link FiberCarriers#run} spins for the answer of this drain, and
   * then calls {@link FiberCarriers#wakeForEntry}. So a carrier that is awake may take the drain
   * soon, and no other carrier need be woken for it.
   */
  default boolean hasSpinningAsker() {
    return false;
  }

  /**
   * Returns whether this drain begins with the request of a virtual thread that no carrier
   * runs. This thread parks until the answer, so its own scheduler may run the drain.
   */
  default boolean hasAskerOffCarriers() {
    return false;
  }

  /**
   * Detaches the drain from its thread, and clears the interrupt flag. Called on this thread after
   * the drain was run, before the thread runs another drain or waits.
   */
  void leaveThread();

  /**
   * Records that this thread runs no handler. Called on the thread of a drain that was run, before
   * the thread waits for its next drain.
   */
  void forgetHandler();
}
