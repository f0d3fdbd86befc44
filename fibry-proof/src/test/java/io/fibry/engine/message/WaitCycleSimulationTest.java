package io.fibry.engine.message;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Seeds;
import io.fibry.Strategy;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Simulates the rounds of {@link WaitCycleStressTest}. */
@Tag("simulated")
class WaitCycleSimulationTest {

  @Test
  void detectionFindsEveryCycleAndRaisesNoFalseAlarm() {
    var alarms = new AtomicLong();

    Seeds.play("wait cycles", 1_000, simulation -> {
      var stressTest =
          WaitCycleStressTest.withStrategies(Strategy.FIBER, Strategy.RESIDENT_FIBER, Strategy.THREAD, Strategy.CALLER);
      Seeds.delay(simulation);
      stressTest.round(new Random(simulation.random().nextLong()));
      assertEquals(List.of(), List.copyOf(stressTest.violations));
      alarms.addAndGet(stressTest.alarms.get());
    });

    assertTrue(alarms.get() > 0, "no cycle was closed");
    System.out.println("wait cycles: " + alarms + " alarms");
  }
}
