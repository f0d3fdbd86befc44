package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.engine.scope.Scopes;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Requests race the end of their actor. Every request must complete. */
class RequestStressTest {
  private static final int SENDERS = 2;
  private static final int REQUESTS = Soak.ON ? 1_000_000 : 16_000; // for each way to stop
  private static final int MOST = Soak.ON ? 2_000 : 400; // of a sender in a round

  enum Stop { ASK_EXIT, PILL, KILL, SHUTDOWN, EXIT_AND_SHUTDOWN }

  @ParameterizedTest
  @EnumSource(Stop.class)
  void noRequestThatRacesAStopIsLeftIncomplete(Stop stop) throws Exception {
    long seed = StressHarness.seed();
    System.out.println("requests against " + stop + ": -Dfibry.seed=" + seed);
    var random = new SplittableRandom(seed);
    int requests = 0;
    int incomplete = 0;

    for (; requests < REQUESTS;) {
      var round = new Round(stop, random.split());
      round.play();
      requests += round.requests();
      incomplete += round.incomplete();
    }

    assertEquals(0, incomplete, "of " + requests + " requests");
  }

  private static final class Round {
    private final Stop stop;
    private final SplittableRandom random;
    private final ExecutorService pool;
    private final ActorWithReturn<Integer, Integer> actor;
    private final List<List<CompletableFuture<Integer>>> futures = new ArrayList<>();
    private final AtomicInteger progress = new AtomicInteger();
    private final int each;
    private final int stopAt;

    Round(Stop stop, SplittableRandom random) {
      this.stop = stop;
      this.random = random;
      this.pool = stop.compareTo(Stop.SHUTDOWN) >= 0
          ? Executors.newFixedThreadPool(1, Thread.ofPlatform().daemon().factory()) : null;
      this.each = 100 + random.nextInt(MOST);
      this.stopAt = 1 + random.nextInt(each * SENDERS);
      var all = List.of(Strategy.FIBER, Strategy.THREAD, Strategy.RESIDENT_FIBER, Strategy.CALLER);
      var strategy = pool != null ? Strategy.of(pool) : all.get(random.nextInt(all.size()));
      this.actor = Scopes.root("requests", ActorScope.Options.defaults()).anonymous().strategy(strategy)
          .newActorWithReturn((Integer i) -> i);
    }

    void play() throws InterruptedException {
      var threads = new ArrayList<Thread>();
      for (int i = 0; i < SENDERS; i++) {
        var mine = new ArrayList<CompletableFuture<Integer>>(each);
        futures.add(mine);
        threads.add((random.nextBoolean() ? Thread.ofVirtual() : Thread.ofPlatform()).start(() -> send(mine)));
      }
      threads.forEach(Patience::joined);
      if (stop != Stop.SHUTDOWN) Patience.ended(actor::waitForExit);
    }

    private void send(List<CompletableFuture<Integer>> mine) {
      for (int i = 0; i < each; i++) {
        mine.add(actor.sendMessageReturn(i));
        if (progress.incrementAndGet() == stopAt) stop();
      }
    }

    private void stop() {
      switch (stop) {
        case ASK_EXIT -> actor.askExit();
        case PILL -> actor.sendPoisonPill();
        case KILL -> actor.kill();
        case SHUTDOWN -> pool.shutdown();
        case EXIT_AND_SHUTDOWN -> {
          actor.askExit();
          pool.shutdown();
        }
      }
    }

    int requests() {
      return each * SENDERS;
    }

    int incomplete() throws InterruptedException {
      // a shut-down executor refuses only the next activation
      if (stop == Stop.SHUTDOWN) actor.sendMessage(0);
      int count = 0;
      for (var mine : futures) for (var future : mine) if (!isToldAsPromised(future)) count++;
      if (pool != null) pool.shutdown();
      return count;
    }

    private static boolean isToldAsPromised(CompletableFuture<Integer> future) throws InterruptedException {
      Waits.done(future);
      try {
        future.get();
        return true;
      } catch (ExecutionException stopped) {
        return stopped.getCause() instanceof ActorStoppedException;
      }
    }
  }
}
