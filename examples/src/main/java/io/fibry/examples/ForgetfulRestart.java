package io.fibry.examples;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.ActorWithReturn;
import io.fibry.FailurePolicy;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.simulation.Simulation;
import io.fibry.simulation.SimulationFailure;
import java.util.ArrayList;
import java.util.List;

/** A cart restarts with its empty first state: a simulation finds what its customer then misses. */
class ForgetfulRestart {
  record Cart(ActorWithReturn<String, List<String>> actor) {
    static Cart open(ActorScope scope) {
      var printer =
          scope.named("printer").mailbox(Mailbox.bounded(1_000, Overflow.REJECT)).newActor((String line) -> {});
      return new Cart(scope.named("cart")
          .onFailure(FailurePolicy.restart().withoutLog()) // the mend is resume(), with a rollback
          .initialState(() -> new ArrayList<String>())
          .newActorWithReturn((ArrayList<String> items, String item) -> {
            if (!printer.sendMessage(item)) throw new IllegalStateException("no room for " + item);
            items.add(item);
            return List.copyOf(items);
          }));
    }

    /** Returns false if it has forgotten an item that it had confirmed. */
    boolean keeps(int items) {
      var confirmed = List.<String>of();
      for (int i = 0; i < items; i++) {
        try {
          var now = actor.ask("item " + i);
          if (!now.containsAll(confirmed)) return false;
          confirmed = now;
        } catch (IllegalStateException notTaken) {
          // the customer was told
        }
      }
      return true;
    }
  }

  public static void main(String[] args) {
    try (var scope = ActorSystem.openScope("shop")) {
      System.out.println("real threads: the cart keeps 1000 items: " + Cart.open(scope).keeps(1_000));
    }
    try {
      Simulation.run(sim -> {
        sim.faults().withSmallMailboxes(0.5); // the printer is out of paper
        if (!Cart.open(sim.scope()).keeps(5)) throw new AssertionError("the cart has forgotten an item");
      });
    } catch (SimulationFailure found) {
      System.out.println(found.getMessage());
    }
  }
}
