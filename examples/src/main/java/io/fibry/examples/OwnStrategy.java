package io.fibry.examples;

import io.fibry.ActorSystem;
import io.fibry.Strategy;
import java.util.concurrent.Executors;

/** A strategy is a function: run this activation soon, on a thread of your choice. */
class OwnStrategy {
  public static void main(String[] args) {
    Strategy important = activation -> {
      var thread = Thread.ofPlatform().daemon().name("important").unstarted(activation);
      thread.setPriority(Thread.MAX_PRIORITY);
      thread.start();
    };
    var where = ActorSystem.anonymous().strategy(important)
        .newActorWithReturn((String s) -> s + " runs on " + Thread.currentThread().getName());
    System.out.println(where.ask("mine"));

    try (var pool = Executors.newSingleThreadExecutor(task -> new Thread(task, "the pool's thread"))) {
      var pooled = ActorSystem.anonymous().strategy(Strategy.of(pool))
          .newActorWithReturn((String s) -> s + " runs on " + Thread.currentThread().getName());
      System.out.println(pooled.ask("this one"));
    }
  }
}
