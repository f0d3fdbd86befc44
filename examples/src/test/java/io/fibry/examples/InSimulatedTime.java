package io.fibry.examples;

import io.fibry.simulation.Simulation;

/**
 * Runs an example in simulated time, where its limits, loads and delays are exact on any machine.
 * The example prints its lines once for each run.
 */
final class InSimulatedTime {
  private InSimulatedTime() {}

  public static void main(String[] arguments) throws ReflectiveOperationException {
    var main = Class.forName("io.fibry.examples." + arguments[0]).getDeclaredMethod("main", String[].class);
    main.setAccessible(true);
    Simulation.run(options -> options.withSeeds(1), simulation -> main.invoke(null, (Object) new String[0]));
  }
}
