package io.fibry;

import com.sun.management.OperatingSystemMXBean;
import io.fibry.simulation.Simulation;
import io.fibry.simulation.Simulation.Options;
import io.fibry.support.Soak;
import io.fibry.testing.Variants;
import io.fibry.yieldpoint.YieldPointAgent;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.UnaryOperator;

/**
 * Runs a program with many seeds. A build runs a sixth of the requested number of seeds, which
 * takes seconds of processor time. A soak runs as many seeds as possible in an hour. Each build
 * begins with another seed, and a failure prints how to repeat its run.
 */
public final class Seeds {
  private Seeds() {}

  /** Simulates a program, and prints a summary. */
  public static void play(String name, int seeds, Simulation.Program program) {
    play(name, seeds, options -> options, program);
  }

  /** Simulates the program while threads of the library yield at yield points. */
  public static void playWithYieldPoints(String name, int seeds, Simulation.Program program) {
    YieldPointAgent.require();
    play("with yield points: " + name, seeds, Options::withYieldPoints, program);
  }

  private static void play(String name, int seeds, UnaryOperator<Options> change, Simulation.Program program) {
    long firstSeed = Long.getLong("fibry.seed", System.currentTimeMillis() << 20);
    long start = processorTime();
    var summary = Simulation.run(options -> {
      var seedOptions = change.apply(options).withFirstSeed(firstSeed);
      return Soak.ON ? seedOptions.withSeeds(Integer.MAX_VALUE).withTimeLimit(Duration.ofHours(1))
          : seedOptions.withSeeds((seeds + 5) / 6);
    }, program);
    double seconds = (processorTime() - start) / 1e9;
    System.out.printf("%s: %s; %,.1f s of processor time, from seed %d%n", name, summary, seconds, firstSeed);
  }

  /** Returns the processor time of this JVM in ns. */
  private static long processorTime() {
    return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
  }

  /** Injects faults that may delay the results of a round, but must not make them wrong. */
  public static void disturb(Simulation simulation) {
    delay(simulation);
    simulation.faults().withFailedThreadStarts(0.02).withSmallMailboxes(0.5);
  }

  /**
   * Injects delays only. Used by rounds that create actors after the call, because a failed thread
   * start could make a creation fail.
   */
  public static void delay(Simulation simulation) {
    simulation.faults().withStalls(0.02, Duration.ofMillis(50)).withDelays(0.02, Duration.ofMillis(5));
  }

  public static <T> T any(SplittableRandom random, List<T> values) {
    return values.get(random.nextInt(values.size()));
  }

  public static Strategy anyStrategy(SplittableRandom random) {
    return Variants.STRATEGIES.get(any(random, Variants.SIMULATED));
  }
}
