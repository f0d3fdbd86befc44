package io.fibry.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.simulation.Simulation.Options;
import io.fibry.simulation.Simulation.Program;
import java.time.Duration;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** Tests yield points that are written by hand. Usually a tool inserts them into bytecode. */
class YieldPointsTest {
  private static final UnaryOperator<Options> WITH_YIELD_POINTS = options -> options.withSeeds(50).withYieldPoints();

  private static final class Counter {
    private int count;

    void add() {
      YieldPoints.pass();
      int oldCount = count;
      YieldPoints.pass();
      count = oldCount + 1;
    }
  }

  private static Program addTwice(Counter counter, Runnable add) {
    return sim -> {
      counter.count = 0;
      for (int i = 0; i < 2; i++) sim.client("client" + i, () -> {
        add.run();
        return null;
      });
      sim.join();
      assertEquals(2, counter.count);
    };
  }

  @Test
  @Promise("29.20")
  void raceInsideStepIsFoundOnlyWithYieldPoints() {
    var counter = new Counter();
    var program = addTwice(counter, counter::add);

    Simulation.run(options -> options.withSeeds(50), program);
    var failure = assertThrows(SimulationFailure.class, () -> Simulation.run(WITH_YIELD_POINTS, program));
    var repeatedFailure = assertThrows(SimulationFailure.class,
        () -> Simulation.run(options -> WITH_YIELD_POINTS.apply(options).withReplay(failure.replay()), program));

    assertTrue(
        failure.getMessage().contains("** client0 yields in YieldPointsTest$Counter.add:2"),
        failure.getMessage());
    assertEquals(failure.replay(), repeatedFailure.replay());
    assertEquals(failure.diagram(), repeatedFailure.diagram());
  }

  @Test
  @Promise("29.20")
  void threadDoesNotYieldInsideStaticInitializer() {
    var counter = new Counter();

    Simulation.run(WITH_YIELD_POINTS, addTwice(counter, () -> {
      YieldPoints.beginInitializer();
      counter.add();
      YieldPoints.endInitializer();
    }));
  }

  @Test
  @Promise("29.20")
  void yieldPointsDoNotAdvanceSimulatedTime() {
    Simulation.run(WITH_YIELD_POINTS, sim -> {
      var sleeper = sim.client("sleeper", () -> {
        Thread.sleep(1);
        return null;
      });
      sim.client("busy", () -> {
        for (int i = 0; i < 10_000; i++) YieldPoints.pass();
        return null;
      });
      for (int i = 0; i < 10_000; i++) YieldPoints.pass();
      assertEquals(Duration.ZERO, sim.time());
      sleeper.join();
    });
  }

  @Test
  void yieldPointsDoNotStopThreadsOutsideSimulation() {
    YieldPoints.pass();
    YieldPoints.endInitializer();
    Simulation.run(WITH_YIELD_POINTS, sim -> {
      sim.assertAlways("the carrier passes yield points", () -> {
        YieldPoints.pass();
        return true;
      });
      for (int i = 0; i < 3; i++) sim.client("client" + i, () -> {
        for (int j = 0; j < 10; j++) sim.yieldPoint();
        return null;
      });
    });
  }
}
