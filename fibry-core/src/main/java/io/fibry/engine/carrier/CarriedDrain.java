package io.fibry.engine.carrier;

/** A drain of an actor, run by a thread that runs other drains before and after it. */
public interface CarriedDrain extends Runnable {
  /** Runs the drain, unless an earlier call has run it. Returns whether this call ran the drain. */
  boolean runOnce();

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
