package io.fibry.examples;

import io.fibry.simulation.Simulation;

/**
 * Runs an example in simulated time, where no machine is slow: its limits, loads and delays are
 * exactly as it says. It prints its lines once for each run.
 */
final class InSimulatedTime {
  private InSimulatedTime() {}

  public static void main(String[] example) throws ReflectiveOperationException {
    var main = Class.forName("io.fibry.examples." + example[0]).getDeclaredMethod("main", String[].class);
    main.setAccessible(true);
    Simulation.run(options -> options.withSeeds(1), simulation -> main.invoke(null, (Object) new String[0]));
  }
}
