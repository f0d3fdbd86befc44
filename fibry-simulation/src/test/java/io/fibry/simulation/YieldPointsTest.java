package io.fibry.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.simulation.Simulation.Options;
import io.fibry.simulation.Simulation.Program;
import java.time.Duration;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** Points that are written by hand here, and by a tool for bytecode elsewhere. */
class YieldPointsTest {
  private static final UnaryOperator<Options> FINE = options -> options.withSeeds(50).withYieldPoints();

  private static final class Counter {
    private int count;

    void add() {
      YieldPoints.pass();
      int seen = count;
      YieldPoints.pass();
      count = seen + 1;
    }
  }

  private static Program both(Counter counter, Runnable add) {
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
    var program = both(counter, counter::add);

    Simulation.run(options -> options.withSeeds(50), program);
    var failure = assertThrows(SimulationFailure.class, () -> Simulation.run(FINE, program));
    var again = assertThrows(SimulationFailure.class,
        () -> Simulation.run(options -> FINE.apply(options).withReplay(failure.replay()), program));

    assertTrue(
        failure.getMessage().contains("** client0 gives way in YieldPointsTest$Counter.add:2"),
        failure.getMessage());
    assertEquals(failure.replay(), again.replay());
    assertEquals(failure.diagram(), again.diagram());
  }

  @Test
  @Promise("29.20")
  void staticInitializerHasNoYieldPoints() {
    var counter = new Counter();

    Simulation.run(FINE, both(counter, () -> {
      YieldPoints.beginInitializer();
      counter.add();
      YieldPoints.endInitializer();
    }));
  }

  @Test
  @Promise("29.20")
  void yieldPointsTakeNoTime() {
    Simulation.run(FINE, sim -> {
      var late = sim.client("late", () -> {
        Thread.sleep(1);
        return null;
      });
      sim.client("busy", () -> {
        for (int i = 0; i < 10_000; i++) YieldPoints.pass();
        return null;
      });
      for (int i = 0; i < 10_000; i++) YieldPoints.pass();
      assertEquals(Duration.ZERO, sim.time());
      late.join();
    });
  }

  @Test
  void outsideThreadsPassYieldPoints() {
    YieldPoints.pass();
    YieldPoints.endInitializer();
    Simulation.run(FINE, sim -> {
      sim.assertAlways("the carrier passes them", () -> {
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
