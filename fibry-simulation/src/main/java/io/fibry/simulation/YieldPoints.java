package io.fibry.simulation;

import io.fibry.simulation.run.SimulationRun;
import io.fibry.simulation.tap.MachineLookup;
import org.jspecify.annotations.Nullable;

/**
 * Yield points inside a step, which find races between a read and a write. Programs do not call
 * this class: a bytecode tool inserts a call of {@link #pass} before each use of state that threads
 * share. The calls have an effect only on simulated threads, and only with the option {@link
 * Simulation.Options#withYieldPoints}. Thread-safe.
 */
public final class YieldPoints {
  /**
   * The current run, or null if there is none, or if it has no yield points. Written by the thread
   * that called the simulation.
   */
  static volatile @Nullable SimulationRun run;

  private YieldPoints() {}

  /** Lets other threads run first, if the run decides so. */
  public static void pass() {
    var current = currentRun();
    if (current != null) current.passYieldPoint();
  }

  /**
   * Called when a static initializer begins. Until it ends, the thread does not give way at yield
   * points, because other threads would wait for the class. Besides, the initializer runs once in a
   * JVM, so later runs of a seed would not pass its yield points.
   */
  public static void beginInitializer() {
    changeDepth(1);
  }

  /** Called when a static initializer ends. */
  public static void endInitializer() {
    changeDepth(-1);
  }

  private static void changeDepth(int change) {
    var current = currentRun();
    if (current != null && current.current() != null) current.current().initializerDepth += change;
  }

  /**
   * Returns the current run, or null if this thread does not belong to it. The carrier does not
   * belong to the run, because the carrier must not wait.
   */
  private static @Nullable SimulationRun currentRun() {
    var current = run;
    return current != null && Thread.currentThread().isVirtual() && MachineLookup.machine() == current ? current : null;
  }
}
