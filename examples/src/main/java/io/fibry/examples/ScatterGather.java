package io.fibry.examples;

import io.fibry.ActorSystem;
import io.fibry.ActorWithReturn;
import io.fibry.AskTimeoutException;
import io.fibry.flow.Flows;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** One question to many actors: all answers, or the first. */
class ScatterGather {
  private static ActorWithReturn<String, Integer> shop(String name, int price) {
    return ActorSystem.named(name).newActorWithReturn((String what) -> price);
  }

  public static void main(String[] args) {
    var open = new CountDownLatch(1);
    var shops = List.of(shop("corner", 300), shop("market", 250));
    var closed = ActorSystem.named("closed").newActorWithReturn((String what) -> {
      open.await();
      return 100;
    });

    System.out.println("all: " + Flows.askAll(shops, "hat", Duration.ofMinutes(1)));
    System.out.println("first: " + Flows.askFirst(List.of(closed, shops.getLast()), "hat", Duration.ofMinutes(1)));
    try {
      Flows.askAll(List.of(shops.getFirst(), closed), "hat", Duration.ofMillis(50));
    } catch (AskTimeoutException late) {
      System.out.println(late.getMessage().replaceFirst(".*did not answer (.*) within.*", "late: $1"));
    }
    open.countDown();
  }
}
