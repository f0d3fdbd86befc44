package io.fibry.examples;

import io.fibry.ActorSystem;
import java.util.HashMap;
import java.util.concurrent.CompletableFuture;

/** An actor is an executor: callbacks of futures run on it, and may touch its state. */
class ActorAsExecutor {
  /** Stands for a client library with its own threads. */
  private static CompletableFuture<Integer> price(String what) {
    return CompletableFuture.supplyAsync(() -> what.length() * 100);
  }

  public static void main(String[] args) {
    var prices = new HashMap<String, Integer>(); // only the actor touches it
    var shop =
        ActorSystem.named("shop").newActor((String what) -> System.out.println(what + " costs " + prices.get(what)));

    var hat = price("hat").thenAcceptAsync(cents -> prices.put("hat", cents), shop);
    var shoes = price("shoes").thenAcceptAsync(cents -> prices.put("shoes", cents), shop);
    CompletableFuture.allOf(hat, shoes).join();

    shop.sendMessage("hat");
    shop.sendMessage("shoes");
    shop.close();
  }
}
