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
  private static final FailurePolicy CAUTIOUS = FailurePolicy.choose(failure -> switch (failure) {
    case IllegalArgumentException wrong -> FailurePolicy.resume();
    default -> FailurePolicy.escalate();
  }).withoutLog();

  public static void main(String[] args) {
    var once = FailurePolicy.restartAll().withBudget(1, Duration.ofMinutes(1));
    try (var shop = ActorSystem.openScope("shop", o -> o.withFailurePolicy(once))) {
      var till = assistant(shop, "till");
      var stock = assistant(shop, "stock");
      Consumer<String> sell = what -> {
        shop.awaitQuiescence(Duration.ofMinutes(1));
        System.out.println("till " + till.ask(what) + ", stock " + stock.ask(what));
      };

      sell.accept("apple");
      trouble("nonsense", till);
      sell.accept("pear"); // the state was kept
      trouble("fire", till);
      sell.accept("plum"); // both were restarted
      trouble("fire", till);
      till.waitForExit();
      stock.waitForExit();
      System.out.println("till: " + till.onExit().join() + "\nstock: " + stock.onExit().join());
    }
  }

  private static ActorWithReturn<String, List<String>> assistant(ActorScope shop, String name) {
    return shop.named(name).onFailure(CAUTIOUS).initialState(ArrayList<String>::new)
        .newActorWithReturn(Supervision::note);
  }

  private static List<String> note(List<String> book, String what) {
    if (what.equals("nonsense")) throw new IllegalArgumentException(what);
    if (what.equals("fire")) throw new IllegalStateException(what);
    book.add(what);
    return List.copyOf(book);
  }

  private static void trouble(String what, ActorWithReturn<String, List<String>> assistant) {
    assistant.sendMessage(what);
    System.out.println(what + "!");
  }
}
