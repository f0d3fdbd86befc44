package io.fibry;

import com.sun.management.OperatingSystemMXBean;
import io.fibry.simulation.Simulation;
import io.fibry.simulation.Simulation.Options;
import io.fibry.support.Soak;
import io.fibry.yieldpoint.YieldPointAgent;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.UnaryOperator;

/**
 * The number of runs of a simulated test. A build plays a sixth of the number that is asked for, on
 * each machine, which takes seconds of processor time; a soak plays as many as an hour permits.
 * Each build begins with another seed, and a failure prints how to repeat its run.
 */
public final class Seeds {
  private Seeds() {}

  /** Simulates a program, and prints what was seen. */
  public static void play(String what, int seeds, Simulation.Program program) {
    play(what, seeds, options -> options, program);
  }

  /** Plays the program while threads of the library give way at fine points. */
  public static void playFinely(String what, int seeds, Simulation.Program program) {
    YieldPointAgent.require();
    play("fine " + what, seeds, Options::withYieldPoints, program);
  }

  private static void play(String what, int seeds, UnaryOperator<Options> mode, Simulation.Program program) {
    long first = Long.getLong("fibry.seed", System.currentTimeMillis() << 20);
    long begun = processorTime();
    var seen = Simulation.run(options -> {
      var changed = mode.apply(options).withFirstSeed(first);
      return Soak.ON ? changed.withSeeds(Integer.MAX_VALUE).withTimeLimit(Duration.ofHours(1))
          : changed.withSeeds((seeds + 5) / 6);
    }, program);
    double seconds = (processorTime() - begun) / 1e9;
    System.out.printf("%s: %s; %,.1f s of processor time, from seed %d%n", what, seen, seconds, first);
  }

  /** In ns, of this JVM. */
  private static long processorTime() {
    return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
  }

  /** Injects faults under which rounds of the library may be late, but never wrong. */
  public static void disturb(Simulation simulation) {
    delay(simulation);
    simulation.faults().withFailedThreadStarts(0.02).withSmallMailboxes(0.5);
  }

  /**
   * Injects delays only, for rounds that make actors meanwhile: without a thread none can be made.
   */
  public static void delay(Simulation simulation) {
    simulation.faults().withStalls(0.02, Duration.ofMillis(50)).withDelays(0.02, Duration.ofMillis(5));
  }

  public static <T> T any(SplittableRandom random, List<T> all) {
    return all.get(random.nextInt(all.size()));
  }

  public static Strategy anyStrategy(SplittableRandom random) {
    return Variants.STRATEGIES.get(any(random, Variants.SIMULATED));
  }
}
