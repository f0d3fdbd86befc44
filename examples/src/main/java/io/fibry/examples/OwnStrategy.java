package io.fibry.examples;

import io.fibry.ActorSystem;
import io.fibry.Strategy;
import java.util.concurrent.Executors;

/** A strategy is a function that soon runs an activation, on a thread of its choice. */
class OwnStrategy {
  public static void main(String[] args) {
    Strategy important = activation -> {
      var thread = Thread.ofPlatform().daemon().name("important").unstarted(activation);
      thread.setPriority(Thread.MAX_PRIORITY);
      thread.start();
    };
    var prioritized = ActorSystem.anonymous().strategy(important)
        .newActorWithReturn((String label) -> label + " runs on " + Thread.currentThread().getName());
    System.out.println(prioritized.ask("mine"));

    try (var pool = Executors.newSingleThreadExecutor(task -> new Thread(task, "the pool's thread"))) {
      var pooled = ActorSystem.anonymous().strategy(Strategy.of(pool))
          .newActorWithReturn((String label) -> label + " runs on " + Thread.currentThread().getName());
      System.out.println(pooled.ask("this one"));
    }
  }
}
