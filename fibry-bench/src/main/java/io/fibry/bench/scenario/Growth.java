package io.fibry.bench.scenario;

import io.fibry.ActorSystem;
import io.fibry.Sink;
import io.fibry.stereotype.Stereotypes;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

/**
 * Measures the cost of an actor, of a message in a long mailbox, and of a request. Shows whether
 * these costs grow with 10 or 100 times as many actors, messages and requests. Virtual threads are
 * measured, too.
 */
public final class Growth {
  private Growth() {}

  /** Begins with {@code -Dsize} actors, messages, requests and threads. */
  public static void main(String[] args) throws Exception {
    int minSize = Experiment.size(20_000);
    var experiment = new Experiment("growth",
        "the cost of one among as many (size): of an actor that is kept, of a message while all of them wait, "
            + "of a request beside idle actors");
    for (int factor : new int[] {1, 10, 100}) {
      int size = minSize * factor;
      experiment.side("fibry, an actor", "ns an actor", "", size, () -> actors(size))
          .side("fibry, a message", "ns a message", "", size, () -> messages(size))
          .side("fibry, a request", "ns a request", "", size, () -> requests(size))
          .side("by hand: a parked virtual thread", "ns an actor", "", size,
              () -> ActorCreation.parkedThreads(size, Thread.ofVirtual(), false) * 1e3);
    }
    experiment.runInTurns();
  }

  private static double actors(int size) {
    var sinks = new Sink<?>[size];
    long began = System.nanoTime();
    for (int i = 0; i < size; i++) sinks[i] = Stereotypes.fibers().sink(null);
    double nanosPerActor = Experiment.secondsSince(began) * 1e9 / size;
    sinks[size - 1].close();
    return nanosPerActor;
  }

  private static double messages(int size) throws Exception {
    var allHandled = new CountDownLatch(1);
    var gate = new CountDownLatch(1);
    var handled = new int[1];
    var actor = ActorSystem.anonymous().newActor((Integer message) -> {
      if (handled[0] == 0) gate.await();
      if (++handled[0] == size) allHandled.countDown();
    });
    Integer message = 1_000;
    long began = System.nanoTime();
    for (int i = 0; i < size; i++) actor.sendMessage(message);
    gate.countDown();
    allHandled.await();
    return Experiment.secondsSince(began) * 1e9 / size;
  }

  private static double requests(int size) throws Exception {
    var idleActors = new Sink<?>[size];
    for (int i = 0; i < size; i++) idleActors[i] = Stereotypes.fibers().sink(null);
    var squares = ActorSystem.anonymous().newActorWithReturn((Integer n) -> n * n);
    var result = new CompletableFuture<Double>();
    Thread.startVirtualThread(() -> {
      try {
        long began = System.nanoTime();
        for (int i = 0; i < size; i++) squares.ask(i);
        result.complete(Experiment.secondsSince(began) * 1e9 / size);
      } catch (Throwable failure) {
        result.completeExceptionally(failure);
      }
    });
    double nanosPerRequest = result.get();
    if (idleActors[size - 1] == null) throw new AssertionError(); // keeps the actors reachable until here
    return nanosPerRequest;
  }
}
