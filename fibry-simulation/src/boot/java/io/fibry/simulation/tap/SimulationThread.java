package io.fibry.simulation.tap;

/** The platform thread on which all that is simulated runs. */
public final class SimulationThread extends Thread {
  /**
   * The machine of the present run, or null between runs. The carrier and the loop that starts it
   * set it.
   */
  public volatile SimulatedMachine machine;

  public SimulationThread(Runnable loop, String name) {
    super(null, loop, name, 0, false);
    setDaemon(true);
  }
}
