package io.fibry.examples;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.ActorWithReturn;
import io.fibry.simulation.Simulation;
import io.fibry.simulation.SimulationFailure;
import java.time.Duration;
import java.util.ArrayList;

/** Two tills each read a stock and write back one hat less: a simulation finds the lost sale. */
class LostUpdate {
  sealed interface Message {}
  record Read() implements Message {}
  record Write(int hats) implements Message {}

  /** The fix is one message, Sell, for which the stock itself subtracts a hat. */
  record Shop(ActorWithReturn<Message, Integer> stock, Actor<String> first, Actor<String> second) {
    static Shop open(ActorScope scope) {
      var stock = scope.named("stock").initialState(() -> new int[] {10})
          .newActorWithReturn(
              (int[] hats, Message message) -> message instanceof Write(int left) ? hats[0] = left : hats[0]);
      return new Shop(stock, till(scope, "till 1", stock), till(scope, "till 2", stock));
    }

    private static Actor<String> till(ActorScope scope, String name, ActorWithReturn<Message, Integer> stock) {
      return scope.named(name).newActor((String customer) -> {
        int left = stock.ask(new Read());
        stock.ask(new Write(left - 1));
      });
    }
  }

  public static void main(String[] args) throws Exception {
    try (var town = ActorSystem.openScope("town")) {
      var shops = new ArrayList<Shop>();
      for (int i = 0; i < 300; i++) shops.add(Shop.open(town.openScope("shop " + i)));
      for (var shop : shops) shop.first().sendMessage("Ada");
      Thread.sleep(2_000); // until the next customer comes
      for (var shop : shops) shop.second().sendMessage("Bob");
      town.awaitQuiescence(Duration.ofMinutes(1));
      long wrongShops = shops.stream().filter(shop -> shop.stock().ask(new Read()) != 8).count();
      System.out.println("real threads: " + wrongShops + " of 300 shops have lost a sale");
    }
    try {
      Simulation.run(sim -> {
        sim.faults().withDelays(0.1, Duration.ofSeconds(5)); // as if a thread waited for a processor
        var shop = Shop.open(sim.scope());
        shop.first().sendMessage("Ada");
        Thread.sleep(2_000);
        shop.second().sendMessage("Bob");
        sim.scope().awaitQuiescence(Duration.ofMinutes(1));
        if (shop.stock().ask(new Read()) != 8) throw new AssertionError("a sale is lost");
      });
    } catch (SimulationFailure failure) {
      System.out.println(failure.getMessage());
    }
  }
}
