package io.fibry.examples;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.ActorWithReturn;
import io.fibry.AskTimeoutException;
import io.fibry.simulation.Simulation;
import io.fibry.simulation.SimulationFailure;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** A shop asks again when its bank is late: a simulation finds the customer who pays twice. */
class PaidTwice {
  record Shop(ActorWithReturn<String, String> till, Map<String, Integer> paid) {
    static Shop open(ActorScope scope) {
      var paid = new ConcurrentHashMap<String, Integer>();
      var bank = scope.named("bank").newActorWithReturn((String order) -> {
        paid.merge(order, 1, Integer::sum); // the fix is putIfAbsent, because a late order was not lost
        Thread.sleep(1); // as if it asked another server
        return "paid";
      });
      return new Shop(scope.named("till").newActorWithReturn((String order) -> pay(bank, order)), paid);
    }

    private static String pay(ActorWithReturn<String, String> bank, String order) {
      for (int attempt = 0; attempt < 3; attempt++) {
        try {
          return bank.ask(order, Duration.ofSeconds(2));
        } catch (AskTimeoutException timeout) {
          // asks again
        }
      }
      return "pay in cash, please";
    }

    boolean isRight() {
      return paid.values().stream().allMatch(times -> times == 1);
    }
  }

  public static void main(String[] args) {
    try (var scope = ActorSystem.openScope("shop")) {
      var shop = Shop.open(scope);
      for (int i = 0; i < 1_000; i++) shop.till().ask("order " + i);
      System.out.println("real threads: " + shop.paid().size() + " orders, each paid once: " + shop.isRight());
    }
    try {
      Simulation.run(sim -> {
        sim.faults().withDelays(0.05, Duration.ofSeconds(5)); // as if a thread waited for a processor
        var shop = Shop.open(sim.scope());
        sim.assertAlways("each order is paid once", shop::isRight);
        for (int i = 0; i < 3; i++) shop.till().ask("order " + i);
      });
    } catch (SimulationFailure failure) {
      System.out.println(failure.getMessage());
    }
  }
}
