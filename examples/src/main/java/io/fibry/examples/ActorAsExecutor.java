package io.fibry.examples;

import io.fibry.ActorSystem;
import java.util.HashMap;
import java.util.concurrent.CompletableFuture;

/** An actor is an executor: callbacks of futures run in the actor, and may use its state. */
class ActorAsExecutor {
  /** Stands for a client library with its own threads. */
  private static CompletableFuture<Integer> price(String item) {
    return CompletableFuture.supplyAsync(() -> item.length() * 100);
  }

  public static void main(String[] args) {
    var prices = new HashMap<String, Integer>(); // used only by the actor
    var shop =
        ActorSystem.named("shop").newActor((String item) -> System.out.println(item + " costs " + prices.get(item)));

    var hatPrice = price("hat").thenAcceptAsync(cents -> prices.put("hat", cents), shop);
    var shoesPrice = price("shoes").thenAcceptAsync(cents -> prices.put("shoes", cents), shop);
    CompletableFuture.allOf(hatPrice, shoesPrice).join();

    shop.sendMessage("hat");
    shop.sendMessage("shoes");
    shop.close();
  }
}
