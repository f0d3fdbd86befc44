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
class FinePointsTest {
  private static final UnaryOperator<Options> FINE = options -> options.withSeeds(50).withFinePoints();

  private static final class Counter {
    private int count;

    void add() {
      FinePoints.pass();
      int seen = count;
      FinePoints.pass();
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
  void aRaceInsideAStepIsFoundWithThemAndNotWithout() {
    var counter = new Counter();
    var program = both(counter, counter::add);

    Simulation.run(options -> options.withSeeds(50), program);
    var failure = assertThrows(SimulationFailure.class, () -> Simulation.run(FINE, program));
    var again = assertThrows(SimulationFailure.class,
        () -> Simulation.run(options -> FINE.apply(options).withReplay(failure.replay()), program));

    assertTrue(
        failure.getMessage().contains("** client0 gives way in FinePointsTest$Counter.add:2"),
        failure.getMessage());
    assertEquals(failure.replay(), again.replay());
    assertEquals(failure.diagram(), again.diagram());
  }

  @Test
  @Promise("29.20")
  void aStaticInitializerHasNone() {
    var counter = new Counter();

    Simulation.run(FINE, both(counter, () -> {
      FinePoints.beginInitializer();
      counter.add();
      FinePoints.endInitializer();
    }));
  }

  @Test
  @Promise("29.20")
  void theyTakeNoTime() {
    Simulation.run(FINE, sim -> {
      var late = sim.client("late", () -> {
        Thread.sleep(1);
        return null;
      });
      sim.client("busy", () -> {
        for (int i = 0; i < 10_000; i++) FinePoints.pass();
        return null;
      });
      for (int i = 0; i < 10_000; i++) FinePoints.pass();
      assertEquals(Duration.ZERO, sim.time());
      late.join();
    });
  }

  @Test
  void threadsThatAreNotOfTheRunPassThem() {
    FinePoints.pass();
    FinePoints.endInitializer();
    Simulation.run(FINE, sim -> {
      sim.always("the carrier passes them", () -> {
        FinePoints.pass();
        return true;
      });
      for (int i = 0; i < 3; i++) sim.client("client" + i, () -> {
        for (int j = 0; j < 10; j++) sim.point();
        return null;
      });
    });
  }
}
