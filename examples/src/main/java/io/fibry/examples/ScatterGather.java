package io.fibry.examples;

import io.fibry.ActorSystem;
import io.fibry.ActorWithReturn;
import io.fibry.AskTimeoutException;
import io.fibry.flow.MultiAsk;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** Sends one question to many actors, and waits for all answers, or for the first. */
class ScatterGather {
  private static ActorWithReturn<String, Integer> shop(String name, int price) {
    return ActorSystem.named(name).newActorWithReturn((String item) -> price);
  }

  public static void main(String[] args) {
    var opening = new CountDownLatch(1);
    var shops = List.of(shop("corner", 300), shop("market", 250));
    var closed = ActorSystem.named("closed").newActorWithReturn((String item) -> {
      opening.await();
      return 100;
    });

    System.out.println("all: " + MultiAsk.askAll(shops, "hat", Duration.ofMinutes(1)));
    System.out.println("first: " + MultiAsk.askFirst(List.of(closed, shops.getLast()), "hat", Duration.ofMinutes(1)));
    try {
      MultiAsk.askAll(List.of(shops.getFirst(), closed), "hat", Duration.ofMillis(50));
    } catch (AskTimeoutException timeout) {
      System.out.println(timeout.getMessage().replaceFirst(".*did not answer (.*) within.*", "late: $1"));
    }
    opening.countDown();
  }
}
