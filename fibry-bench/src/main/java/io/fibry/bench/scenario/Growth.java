package io.fibry.bench.scenario;

import io.fibry.ActorSystem;
import io.fibry.Sink;
import io.fibry.stereotype.Stereotypes;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/**
 * Does a thing cost more where there are more of them? Creating an actor, a message through a
 * mailbox in which all wait, and a request, at 1, 10 and 100 times the size; virtual threads beside
 * them.
 */
public final class Growth {
  private Growth() {}

  /**
   * Runs it.
   *
   * @param args none; {@code -Dsize} of each at first
   * @throws Exception if a side fails
   */
  public static void main(String[] args) throws Exception {
    int least = Experiment.size(20_000);
    var table = new Experiment("growth",
        "what one costs, where there are so many: created and kept; sent and handled, all waiting at once; asked "
            + "and answered, with as many idle actors about");
    for (int times : new int[] {1, 10, 100}) {
      int size = least * times;
      table.side("fibry, an actor", "ns an actor", "", size, () -> actors(size))
          .side("fibry, a message", "ns a message", "", size, () -> messages(size))
          .side("fibry, a request", "ns a request", "", size, () -> requests(size))
          .side("by hand: a parked virtual thread", "ns an actor", "", size, () -> threads(size));
    }
    table.inTurns();
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
    if (idle[size - 1] == null) throw new AssertionError(); // so that they live until here
    return each;
  }

  private static double threads(int size) throws Exception {
    var made = new Thread[size];
    var end = new CountDownLatch(size);
    long began = System.nanoTime();
    for (int i = 0; i < size; i++) {
      made[i] = Thread.startVirtualThread(() -> {
        LockSupport.park();
        end.countDown();
      });
    }
    double each = Experiment.seconds(began) * 1e9 / size;
    for (var thread : made) LockSupport.unpark(thread);
    end.await();
    return each;
  }
}
