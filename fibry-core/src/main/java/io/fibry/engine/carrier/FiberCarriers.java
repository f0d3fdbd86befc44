package io.fibry.engine.carrier;

/** Runs fibers on carriers of its own. Thread-safe. */
public interface FiberCarriers {
  /**
   * Runs a drain soon, on a virtual thread that also runs other drains. If this method throws, the
   * drain may or may not be run.
   */
  void run(CarriedDrain drain);

  /**
   * Unparks the thread. If the caller runs on a carrier, a virtual thread of the carriers should
   * continue on this carrier. Another carrier continues the thread if it waits too long, or other
   * entries wait with it.
   */
  void unparkNear(Thread thread);

  /** Yields the caller's virtual thread, which should continue on the same carrier. */
  void yieldNear();

  /**
   * Wakes a carrier if an entry waits that any carrier may take. Called by an asker that has spun
   * without an answer ({@link CarriedDrain#hasSpinningAsker}).
   */
  void wakeForEntry();

  /** Returns whether the caller runs on one of these carriers. */
  boolean runsCaller();

  /** Starts a new virtual thread for the task. If this method throws, the task is not run. */
  void start(Runnable task);
}
