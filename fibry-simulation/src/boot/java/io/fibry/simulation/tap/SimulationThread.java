package io.fibry.simulation.tap;

/** The carrier: the platform thread on which all simulated threads run. */
public final class SimulationThread extends Thread {
  /**
   * The machine of the current run, or null between runs. Written by this thread, before and after
   * each run.
   */
  public volatile SimulatedMachine machine;

  public SimulationThread(Runnable loop, String name) {
    super(null, loop, name, 0, false);
    setDaemon(true);
  }
}
