package io.fibry.bench.scenario;

import io.fibry.ActorSystem;
import io.fibry.Sink;
import io.fibry.stereotype.Stereotypes;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

/**
 * Whether an actor, a message in a long mailbox, or a request costs more when there are 10 and 100
 * times as many; beside virtual threads.
 */
public final class Growth {
  private Growth() {}

  /** {@code -Dsize} of each to begin with. */
  public static void main(String[] args) throws Exception {
    int least = Experiment.size(20_000);
    var experiment = new Experiment("growth",
        "what one costs among as many others (size): an actor created and kept; a message sent and handled, when all "
            + "of them wait at once; a request answered beside as many idle actors");
    for (int times : new int[] {1, 10, 100}) {
      int size = least * times;
      experiment.side("fibry, an actor", "ns an actor", "", size, () -> actors(size))
          .side("fibry, a message", "ns a message", "", size, () -> messages(size))
          .side("fibry, a request", "ns a request", "", size, () -> requests(size))
          .side("by hand: a parked virtual thread", "ns an actor", "", size,
              () -> ActorCreation.threads(size, Thread.ofVirtual(), false) * 1e3);
    }
    experiment.inTurns();
  }

  private static double actors(int size) {
    var made = new Sink<?>[size];
    long began = System.nanoTime();
    for (int i = 0; i < size; i++) made[i] = Stereotypes.fibers().sink(null);
    double each = Experiment.seconds(began) * 1e9 / size;
    made[size - 1].close();
    return each;
  }

  private static double messages(int size) throws Exception {
    var end = new CountDownLatch(1);
    var open = new CountDownLatch(1);
    var seen = new int[1];
    var actor = ActorSystem.anonymous().newActor((Integer message) -> {
      if (seen[0] == 0) open.await();
      if (++seen[0] == size) end.countDown();
    });
    Integer message = 1_000;
    long began = System.nanoTime();
    for (int i = 0; i < size; i++) actor.sendMessage(message);
    open.countDown();
    end.await();
    return Experiment.seconds(began) * 1e9 / size;
  }

  private static double requests(int size) throws Exception {
    var idle = new Sink<?>[size];
    for (int i = 0; i < size; i++) idle[i] = Stereotypes.fibers().sink(null);
    var squares = ActorSystem.anonymous().newActorWithReturn((Integer n) -> n * n);
    var took = new CompletableFuture<Double>();
    Thread.startVirtualThread(() -> {
      try {
        long began = System.nanoTime();
        for (int i = 0; i < size; i++) squares.ask(i);
        took.complete(Experiment.seconds(began) * 1e9 / size);
      } catch (Throwable failure) {
        took.completeExceptionally(failure);
      }
    });
    double each = took.get();
    if (idle[size - 1] == null) throw new AssertionError(); // keeps them alive until here
    return each;
  }
}
