package io.fibry.engine.carrier;

/** Runs fibers on carriers of its own. Thread-safe. */
public interface FiberCarriers {
  /**
   * Runs a drain soon, on a virtual thread that also runs other drains. If this method throws, the
   * drain may or may not be run.
   */
  void run(CarriedDrain drain);

  /** Starts a new virtual thread for the task. If this method throws, the task is not run. */
  void start(Runnable task);
}
