package io.fibry.bench.scenario;

import io.fibry.ActorSystem;
import io.fibry.Strategy;
import io.fibry.stereotype.Stereotypes;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedTransferQueue;

/**
 * Measures how long requests from one actor to another take, one after the other. Each request
 * needs two switches of threads.
 */
public final class ContextSwitches {
  private ContextSwitches() {}

  /** Makes {@code -Dsize} requests. */
  public static void main(String[] args) throws Exception {
    int requests = Experiment.size(250_000);
    new Experiment("switches", String.format("%,d requests from one actor to another, one after the other", requests))
        .side("fibry, fibers", "ms", "1,500 ms for 250,000", () -> actors(Strategy.FIBER, requests))
        .side("fibry, resident fibers", "ms", "", () -> actors(Strategy.RESIDENT_FIBER, requests))
        .side("fibry, platform threads", "ms", "4,700 ms for 250,000", () -> actors(Strategy.THREAD, requests))
        .side("by hand: two virtual threads, queue and future", "ms", "", () -> byHand(Thread.ofVirtual(), requests))
        .side("by hand: two platform threads, queue and future", "ms", "",
            () -> byHand(Thread.ofPlatform().daemon(), requests))
        .runInTurns();
  }

  private static double actors(Strategy strategy, int requests) throws Exception {
    ActorSystem.setDefaultStrategy(strategy);
    try {
      var completed = new CompletableFuture<Integer>(); // because runOnceSilent hides failures of its task
      long began = System.nanoTime();
      var squares = ActorSystem.anonymous().newActorWithReturn((Integer n) -> n * n);
      Stereotypes.def().runOnceSilent(() -> {
        for (int i = 0; i < requests; i++) squares.sendMessageReturn(i).get();
        completed.complete(requests);
      }).closeOnExit(squares).waitForExit();
      if (completed.getNow(0) != requests) throw new IllegalStateException("some request failed");
      return Experiment.secondsSince(began) * 1e3;
    } finally {
      ActorSystem.setDefaultStrategy(Strategy.FIBER);
    }
  }

  private record Request(int n, CompletableFuture<Integer> answer) {}

  private static double byHand(Thread.Builder threads, int requests) throws Exception {
    var queue = new LinkedTransferQueue<Request>();
    long began = System.nanoTime();
    var answerer = threads.start(() -> {
      try {
        for (int i = 0; i < requests; i++) {
          var request = queue.take();
          request.answer.complete(request.n * request.n);
        }
      } catch (InterruptedException failure) {
        throw new AssertionError(failure);
      }
    });
    threads.start(() -> {
      for (int i = 0; i < requests; i++) {
        var request = new Request(i, new CompletableFuture<>());
        queue.put(request);
        request.answer.join();
      }
    }).join();
    answerer.join();
    return Experiment.secondsSince(began) * 1e3;
  }
}
