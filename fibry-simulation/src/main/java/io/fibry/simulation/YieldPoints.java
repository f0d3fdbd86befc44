package io.fibry.simulation;

import io.fibry.simulation.tap.MachineLookup;
import org.jspecify.annotations.Nullable;

/**
 * Points inside a step, for races between a look and a write. A tool that changes bytecode puts the
 * calls into classes that share state, one before each use of it. They do nothing but in a
 * simulation {@link Simulation.Options#withYieldPoints}, on its threads. Thread-safe.
 */
public final class YieldPoints {
  /**
   * The present run, or null if there is none, or if it has no fine points. Written by the thread
   * that simulates.
   */
  static volatile @Nullable SimulationRun run;

  private YieldPoints() {}

  /** Lets others go first here, perhaps. */
  public static void pass() {
    var here = currentRun();
    if (here != null) here.finePoint();
  }

  /**
   * A static initializer begins. Other threads wait for its class, and it runs once in a JVM, not
   * once in each run: until it ends, the thread passes no points.
   */
  public static void beginInitializer() {
    initializers(1);
  }

  /** A static initializer ends. */
  public static void endInitializer() {
    initializers(-1);
  }

  private static void initializers(int more) {
    var here = currentRun();
    if (here != null && here.current() != null) here.current().initializerDepth += more;
  }

  /**
   * Returns null if this thread does not belong to the run. Nor is its carrier, which must not
   * wait.
   */
  private static @Nullable SimulationRun currentRun() {
    var here = run;
    return here != null && Thread.currentThread().isVirtual() && MachineLookup.machine() == here ? here : null;
  }
}
