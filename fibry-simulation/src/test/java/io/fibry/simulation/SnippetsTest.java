package io.fibry.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorScope;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Runs the code of the Javadoc and of README.md. */
class SnippetsTest {

  private record Shop(Actor<String> clerk, List<String> sold) {
    static Shop open(ActorScope scope, int hats) {
      var sold = new ArrayList<String>();
      var store = scope.named("store").newActorWithReturn((String what) -> hats - sold.size());
      var clerk = scope.named("clerk").newActor((String customer) -> {
        if (store.ask("hats left?") > 0) sold.add(customer);
      });
      return new Shop(clerk, sold);
    }
  }

  @Test
  @Promise("29.2")
  void simulationRunsShopInManyThreadOrders() {
    // @start region="simulation"
    var summary = Simulation.run(sim -> {                 // 1,000 seeds, in many orders
      var shop = Shop.open(sim.scope(), 2);               // Shop is ordinary code
      sim.assertAlways("no hat is sold twice", () -> shop.sold().size() <= 2);
      for (int i = 0; i < 5; i++) shop.clerk().sendMessage("customer " + i);
    });
    System.out.println(summary);
    // @end
    assertEquals(1_001, summary.runs());
    assertTrue(summary.orders() > 100, summary.toString());
  }

  @Test
  void simulationFindsRaceOfTwoClerks() {
    var failure = assertThrows(SimulationFailure.class, () -> Simulation.run(sim -> {
      var shop = Shop.open(sim.scope(), 2);
      var second = sim.scope().named("second").newActor((String customer) -> {
        if (shop.sold().size() < 2) {
          sim.yieldPoint();
          shop.sold().add(customer);
        }
      });
      sim.assertAlways("no hat is sold twice", () -> shop.sold().size() <= 2);
      for (int i = 0; i < 3; i++) {
        shop.clerk().sendMessage("customer " + i);
        second.sendMessage("customer " + i);
      }
    }));

    assertTrue(failure.getMessage().contains("not always so: no hat is sold twice"), failure.getMessage());
  }

  /** Is shown in README.md. */
  @Test
  void simulationOfShopEndsDespiteFaultsAndCrash() {
    Simulation.run(options -> options.withSeeds(200).withoutDeadLetters(), sim -> {
      sim.faults().withDelays(0.1, Duration.ofSeconds(5)).withKills(0.01, actor -> actor.name().equals("store"));
      sim.network().withLatency(Duration.ofMillis(1), Duration.ofMillis(50)).withFragmentation().withDisconnects(0.01);
      var node = sim.node("shop");
      node.start("program", () -> Shop.open(node.openScope("shop"), 2));
      Thread.sleep(Duration.ofDays(1));                   // takes no time
      node.crash();
    });
  }

  // @start region="junit"
  @SimulatedTest
  void noHatIsSoldTwice(Simulation sim) {
    var shop = Shop.open(sim.scope(), 2);
    sim.assertAlways("no hat is sold twice", () -> shop.sold().size() <= 2);
    for (int i = 0; i < 5; i++) shop.clerk().sendMessage("customer " + i);
  }
  // @end
}
