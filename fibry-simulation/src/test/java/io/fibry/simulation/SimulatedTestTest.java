package io.fibry.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectMethod;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

class SimulatedTestTest {
  private static final AtomicInteger RUNS = new AtomicInteger();

  /** Test methods that only the tests below run. */
  static class Cases {

    @SimulatedTest(seeds = 10)
    void right(TestInfo info, Simulation sim) {
      assertNotNull(info.getDisplayName());
      assertNotNull(sim.scope());
      RUNS.incrementAndGet();
    }

    @SimulatedTest(seeds = 10)
    void wrong(Simulation sim) {
      throw new IllegalStateException("no paper");
    }

    @SimulatedTest(seeds = 10, deadLetters = false)
    void withADeadLetter(Simulation sim) {
      var actor = sim.scope().named("actor").newActor((String message) -> {});
      actor.close();
      actor.sendMessage("hello");
    }

    @SimulatedTest(seeds = 300, policy = SchedulingPolicy.OLDEST_FIRST)
    void inOneOrder(Simulation sim) {
      RUNS.incrementAndGet();
    }
  }

  private static TestExecutionSummary run(String name, String parameters) {
    RUNS.set(0);
    var request = LauncherDiscoveryRequestBuilder.request()
        .selectors(selectMethod(Cases.class.getName() + "#" + name + "(" + parameters + ")")).build();
    var listener = new SummaryGeneratingListener();
    LauncherFactory.create().execute(request, listener);
    return listener.getSummary();
  }

  @Test
  void simulatedTestRunsForEachSeedAndRepeatsSomeRuns() {
    var summary = run("right", "org.junit.jupiter.api.TestInfo,io.fibry.simulation.Simulation");

    assertEquals(1, summary.getTestsSucceededCount(), () -> "" + summary.getFailures().getFirst().getException());
    assertEquals(16, RUNS.get()); // 2 runs as on a quiet machine, 10 seeds, and 4 runs repeated as a check
  }

  @Test
  void exceptionInSimulatedTestFailsTest() {
    var summary = run("wrong", "io.fibry.simulation.Simulation");

    assertEquals(1, summary.getTestsFailedCount());
    var failure = assertInstanceOf(SimulationFailure.class, summary.getFailures().getFirst().getException());
    assertEquals("no paper", failure.getCause().getMessage());
  }

  @Test
  void deadLetterFailsTestWhenForbidden() {
    assertEquals(1, run("withADeadLetter", "io.fibry.simulation.Simulation").getTestsFailedCount());
  }

  @Test
  @Promise("29.2")
  void simulatedTestUsesSchedulingPolicyOfItsAnnotation() {
    assertEquals(1, run("inOneOrder", "io.fibry.simulation.Simulation").getTestsSucceededCount());
    assertEquals(311, RUNS.get());
  }
}
