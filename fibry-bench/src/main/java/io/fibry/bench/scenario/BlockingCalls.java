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

/** How many blocking calls of 100 ms are done in a second, by a fiber for each and by pools. */
public final class BlockingCalls {
  private BlockingCalls() {}

  /** {@code -Dsize} calls, a tenth of them for the pools. */
  public static void main(String[] args) throws Exception {
    int calls = Experiment.size(100_000);
    int fewer = Math.max(1, calls / 10);
    new Experiment("blocking", String.format("%,d blocking calls of 100 ms each; %,d on the pools", calls, fewer))
        .side("fibry, a fiber for each", "calls/s", "100,000 in 0.67 s: 149,000",
            () -> actor(calls, BlockingCalls::fibers))
        .side("fibry, pool of 64 platform threads", "calls/s", "100,000 in 162 s: 617",
            () -> actor(fewer, handler -> pool(64, handler)))
        .side("fibry, pool of 200 platform threads", "calls/s", "", () -> actor(fewer, handler -> pool(200, handler)))
        .side("by hand: a virtual thread for each", "calls/s", "100,000 in 0.67 s: 149,000",
            () -> executor(calls, Executors.newVirtualThreadPerTaskExecutor()))
        .side("by hand: newFixedThreadPool(64)", "calls/s", "100,000 in 162 s: 617",
            () -> executor(fewer, Executors.newFixedThreadPool(64)))
        .once();
  }

  private interface Maker {
    Actor<CountDownLatch> of(Handler<CountDownLatch> handler);
  }

  private static Actor<CountDownLatch> fibers(Handler<CountDownLatch> handler) {
    return Pools.perMessage(ActorSystem.anonymous()).newActor(handler);
  }

  private static Actor<CountDownLatch> pool(int threads, Handler<CountDownLatch> handler) {
    return Pools.fixed(ActorSystem.anonymous().strategy(Strategy.THREAD).mailbox(Mailbox.unbounded()), threads)
        .newActor(handler);
  }

  private static void call(CountDownLatch done) throws InterruptedException {
    Thread.sleep(100);
    done.countDown();
  }

  private static double actor(int calls, Maker maker) throws Exception {
    var done = new CountDownLatch(calls);
    try (var actor = maker.of(BlockingCalls::call)) {
      long began = System.nanoTime();
      for (int i = 0; i < calls; i++) actor.sendMessage(done);
      done.await();
      return calls / Experiment.seconds(began);
    }
  }

  private static double executor(int calls, ExecutorService executor) throws Exception {
    var done = new CountDownLatch(calls);
    try (executor) {
      long began = System.nanoTime();
      for (int i = 0; i < calls; i++) {
        executor.submit(() -> {
          call(done);
          return null;
        });
      }
      done.await();
      return calls / Experiment.seconds(began);
    }
  }
}
