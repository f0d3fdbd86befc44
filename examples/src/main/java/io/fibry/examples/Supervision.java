package io.fibry.examples;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.ActorWithReturn;
import io.fibry.FailurePolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A failure goes to who can do something about it: to the actor's policy, chosen by what was
 * thrown, and from there to its scope's.
 */
class Supervision {
  private static final FailurePolicy CAUTIOUS = FailurePolicy.by(failure -> switch (failure) {
    case IllegalArgumentException wrong -> FailurePolicy.goOn();
    default -> FailurePolicy.escalate();
  }).withoutLog();

  public static void main(String[] args) {
    var once = FailurePolicy.restartAll().withBudget(1, Duration.ofMinutes(1));
    try (var shop = ActorSystem.openScope("shop", o -> o.withFailurePolicy(once))) {
      var till = assistant(shop, "till");
      var stock = assistant(shop, "stock");
      show("apple", shop, till, stock);

      trouble("nonsense", till);
      show("pear", shop, till, stock); // nothing forgotten

      trouble("fire", till);
      show("plum", shop, till, stock); // both begin anew, since they belong together

      trouble("fire", till);
      till.waitForExit();
      stock.waitForExit(); // once was enough: the scope is closed
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

  private static void show(String what, ActorScope shop, ActorWithReturn<String, List<String>> till,
      ActorWithReturn<String, List<String>> stock) {
    shop.awaitQuiet(Duration.ofSeconds(5));
    System.out.println("till " + till.ask(what) + ", stock " + stock.ask(what));
  }
}
