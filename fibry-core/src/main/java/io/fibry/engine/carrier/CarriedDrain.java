package io.fibry.engine.carrier;

/** A drain of an actor, run by a thread that runs other drains before and after it. */
public interface CarriedDrain extends Runnable {
  /** Runs the drain, unless an earlier call has run it. Returns whether this call ran the drain. */
  boolean runOnce();

  /**
   * Called on the thread of a drain that was run, before the thread runs another drain or waits.
   */
  void leaveThread();

  /** Called on the thread of a drain that was run, before the thread waits for its next drain. */
  void forgetHandler();
}
