package io.fibry.examples;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.ActorWithReturn;
import io.fibry.FailurePolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * An actor's policy handles its failures, or escalates them to the policy of its scope. The policy
 * of this scope restarts all actors once, then closes the scope.
 */
class Supervision {
  private static final FailurePolicy RESUME_OR_ESCALATE = FailurePolicy.choose(failure -> switch (failure) {
    case IllegalArgumentException refused -> FailurePolicy.resume();
    default -> FailurePolicy.escalate();
  }).withoutLog();

  public static void main(String[] args) {
    var restartOnce = FailurePolicy.restartAll().withBudget(1, Duration.ofMinutes(1));
    try (var shop = ActorSystem.openScope("shop", options -> options.withFailurePolicy(restartOnce))) {
      var cashier = assistant(shop, "till");
      var warehouse = assistant(shop, "stock");
      Consumer<String> showSale = item -> {
        shop.awaitQuiescence(Duration.ofMinutes(1));
        System.out.println("till " + cashier.ask(item) + ", stock " + warehouse.ask(item));
      };

      showSale.accept("apple");
      sendFailing("nonsense", cashier);
      showSale.accept("pear"); // the state was kept
      sendFailing("fire", cashier);
      showSale.accept("plum"); // both were restarted
      sendFailing("fire", cashier);
      cashier.waitForExit();
      warehouse.waitForExit();
      System.out.println("till: " + cashier.onExit().join() + "\nstock: " + warehouse.onExit().join());
    }
  }

  private static ActorWithReturn<String, List<String>> assistant(ActorScope shop, String name) {
    return shop.named(name).onFailure(RESUME_OR_ESCALATE).initialState(ArrayList<String>::new)
        .newActorWithReturn(Supervision::bookSale);
  }

  private static List<String> bookSale(List<String> book, String item) {
    if (item.equals("nonsense")) throw new IllegalArgumentException(item);
    if (item.equals("fire")) throw new IllegalStateException(item);
    book.add(item);
    return List.copyOf(book);
  }

  private static void sendFailing(String message, ActorWithReturn<String, List<String>> assistant) {
    assistant.sendMessage(message);
    System.out.println(message + "!");
  }
}
