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

/** A cart loses its items when it restarts after a failure: a simulation finds the lost item. */
class ForgetfulRestart {
  record Cart(ActorWithReturn<String, List<String>> actor) {
    static Cart open(ActorScope scope) {
      var printer =
          scope.named("printer").mailbox(Mailbox.bounded(1_000, Overflow.REJECT)).newActor((String line) -> {});
      return new Cart(scope.named("cart")
          .onFailure(FailurePolicy.restart().withoutLog()) // resume() keeps the items
          .initialState(() -> new ArrayList<String>())
          .newActorWithReturn((ArrayList<String> items, String item) -> {
            if (!printer.sendMessage(item)) throw new IllegalStateException("no room for " + item);
            items.add(item);
            return List.copyOf(items);
          }));
    }

    /** Adds items; returns false if the cart has lost an item that it had confirmed. */
    boolean addAndCheck(int itemCount) {
      var confirmed = List.<String>of();
      for (int i = 0; i < itemCount; i++) {
        try {
          var content = actor.ask("item " + i);
          if (!content.containsAll(confirmed)) return false;
          confirmed = content;
        } catch (IllegalStateException refused) {
          // the cart has told the customer that it refused the item
        }
      }
      return true;
    }
  }

  public static void main(String[] args) {
    try (var scope = ActorSystem.openScope("shop")) {
      System.out.println("real threads: the cart keeps 1000 items: " + Cart.open(scope).addAndCheck(1_000));
    }
    try {
      Simulation.run(sim -> {
        sim.faults().withSmallMailboxes(0.5); // half of the bounded mailboxes get a capacity of 1 to 3
        if (!Cart.open(sim.scope()).addAndCheck(5)) throw new AssertionError("the cart has forgotten an item");
      });
    } catch (SimulationFailure failure) {
      System.out.println(failure.getMessage());
    }
  }
}
