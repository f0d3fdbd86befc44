package io.fibry.bench.scenario;

import io.fibry.Actor;
import io.fibry.ActorSystem;
import io.fibry.Handler;
import io.fibry.Strategy;
import io.fibry.mailbox.Mailbox;
import io.fibry.pool.Pools;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Measures how many blocking calls of 100 ms complete in a second, by fibers and by pools. */
public final class BlockingCalls {
  private BlockingCalls() {}

  /**
   * Makes {@code -Dsize} calls; a tenth as many on each pool. With {@code -Donly}, only one side
   * runs, in a process that has just started.
   */
  public static void main(String[] args) throws Exception {
    int calls = Experiment.size(100_000);
    int poolCalls = Math.max(1, calls / 10);
    new Experiment("blocking", String.format("%,d blocking calls of 100 ms each; %,d on the pools", calls, poolCalls))
        .side("fibry, a fiber for each", "calls/s", "100,000 in 0.67 s: 149,000",
            () -> rate(calls, BlockingCalls::fibers))
        .side("fibry, pool of 64 platform threads", "calls/s", "100,000 in 162 s: 617",
            () -> rate(poolCalls, handler -> pool(64, handler)))
        .side("fibry, pool of 200 platform threads", "calls/s", "",
            () -> rate(poolCalls, handler -> pool(200, handler)))
        .side("by hand: a virtual thread for each", "calls/s", "100,000 in 0.67 s: 149,000",
            () -> rate(calls, Executors.newVirtualThreadPerTaskExecutor()))
        .side("by hand: a virtual thread for each, with our promises", "calls/s", "",
            () -> countedRate(calls))
        .side("by hand: newFixedThreadPool(64)", "calls/s", "100,000 in 162 s: 617",
            () -> rate(poolCalls, Executors.newFixedThreadPool(64)))
        .runOnce();
  }

  private interface ActorFactory {
    Actor<CountDownLatch> newActor(Handler<CountDownLatch> handler);
  }

  private static Actor<CountDownLatch> fibers(Handler<CountDownLatch> handler) {
    return Pools.perMessage(ActorSystem.anonymous()).newActor(handler);
  }

  private static Actor<CountDownLatch> pool(int threads, Handler<CountDownLatch> handler) {
    return Pools.fixed(ActorSystem.anonymous().strategy(Strategy.THREAD).mailbox(Mailbox.unbounded()), threads)
        .newActor(handler);
  }

  private static void call(CountDownLatch remaining) throws InterruptedException {
    Thread.sleep(100);
    remaining.countDown();
  }

  private static double rate(int calls, ActorFactory actorFactory) throws Exception {
    var remaining = new CountDownLatch(calls);
    try (var actor = actorFactory.newActor(BlockingCalls::call)) {
      long began = System.nanoTime();
      for (int i = 0; i < calls; i++) actor.sendMessage(remaining);
      remaining.await();
      return calls / Experiment.secondsSince(began);
    }
  }

  private static double countedRate(int calls) throws Exception {
    var remaining = new CountDownLatch(calls);
    try (var threads = new CountedThreads<CountDownLatch>("calls", Integer.MAX_VALUE, BlockingCalls::call)) {
      long began = System.nanoTime();
      for (int i = 0; i < calls; i++) threads.send(remaining);
      remaining.await();
      return calls / Experiment.secondsSince(began);
    }
  }

  private static double rate(int calls, ExecutorService executor) throws Exception {
    var remaining = new CountDownLatch(calls);
    try (executor) {
      long began = System.nanoTime();
      for (int i = 0; i < calls; i++) {
        executor.submit(() -> {
          call(remaining);
          return null;
        });
      }
      remaining.await();
      return calls / Experiment.secondsSince(began);
    }
  }
}
