package io.fibry.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.simulation.Simulation.Options;
import io.fibry.simulation.Simulation.Program;
import io.fibry.simulation.agent.AgentAttacher;
import io.fibry.simulation.run.RunEvents;
import io.fibry.simulation.run.SimulationCarrier;
import io.fibry.support.DiagnosticCommand;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests that a seed gives the same run each time, on all machines, on Java 21 and 25. */
class RepeatTest {
  // an estimate of the steps of a run; constant, because it affects the order in which threads run
  private static final int STEPS = 100;
  private static final int REPEATS = Soak.ON ? 1_000 : 200;
  private static final int SEEDS = Soak.ON ? 300 : 60;
  private static final int RUNS = Soak.ON ? 10_000 : 2_000;
  // a line of a histogram: number, instances, bytes, class
  private static final Pattern LINE = Pattern.compile("(?m)^ *\\d+: +(\\d+) +\\d+ +(\\S+)");

  /**
   * The hash of the runs of all programs without their bugs, with the seeds from 1 to {@link
   * #SEEDS}. It may change with the library, the policies and the programs. In that case Java 21
   * and 25 must give the same new hash. The soak has more seeds, and therefore another hash.
   */
  private static final long HASH = Soak.ON ? -7_060_158_657_290_840_693L : 3_694_633_721_539_215_973L;

  private static RunOutcome run(Program program, RunReplay replay, boolean isTraced) {
    AgentAttacher.ensure();
    SimulationCarrier.lock();
    try {
      return ProgramRun.run(program, Options.DEFAULT, replay, STEPS, RunEvents.disabled(), isTraced);
    } finally {
      SimulationCarrier.unlock();
    }
  }

  @ParameterizedTest
  @EnumSource
  void runsOfSameSeedOrReplayAreEqual(Programs program) {
    run(program.program(false), RunReplay.of(7), false);
    var first = run(program.program(false), RunReplay.of(7), false);

    for (int i = 0; i < REPEATS / 2; i++) {
      assertEquals(first.hash(), run(program.program(false), RunReplay.of(7), false).hash());
      assertEquals(first.hash(), run(program.program(false), first.replay(), i % 100 == 0).hash());
    }
  }

  @Test
  void runsAreEqualOnAllJavaVersionsAndMachines() {
    long hash = 17;
    for (var program : Programs.values()) {
      run(program.program(false), RunReplay.of(0), false);
      for (long seed = 1; seed <= SEEDS; seed++)
        hash = hash * 31 + run(program.program(false), RunReplay.of(seed), false).hash();
    }

    assertEquals(HASH, hash);
  }

  @Test
  void runsOfStuckProgramLeaveNoObjectsBehind() {
    Program stuckProgram = sim -> {
      var node = sim.node("node");
      node.openScope("scope").named("actor").newActor((String message) -> {}).sendMessage("hello");
      node.crash();
      sim.client("never", () -> {
        new CountDownLatch(1).await();
        return null;
      });
      sim.join();
    };
    for (int i = 0; i < RUNS / 5; i++) assertNotNull(run(stuckProgram, RunReplay.of(i), false).failure());
    var countsBefore = countInstances();
    countsBefore.putAll(countInstances()); // the second count includes the objects that the first count creates

    for (int i = 0; i < RUNS; i++) run(stuckProgram, RunReplay.of(i), false);

    // some objects are freed only by a second collection, after background threads of the JVM have
    // released them
    if (Patience.comesTrue(() -> growth(countsBefore).isEmpty())) return;
    assertEquals(Map.of(), growth(countsBefore), "each run leaves an object of these classes behind");
  }

  private static Map<String, Long> growth(Map<String, Long> countsBefore) {
    var counts = countInstances();
    counts.replaceAll((type, count) -> count - countsBefore.getOrDefault(type, 0L));
    counts.values().removeIf(count -> count < RUNS / 2);
    return counts;
  }

  /** Returns the number of objects of each class, after a garbage collection. */
  private static Map<String, Long> countInstances() {
    var histogram = DiagnosticCommand.classHistogram();
    var counts = new HashMap<String, Long>();
    LINE.matcher(histogram).results()
        .forEach(line -> counts.merge(line.group(2), Long.valueOf(line.group(1)), Long::sum));
    assertTrue(counts.containsKey(String.class.getName()), histogram);
    return counts;
  }
}
