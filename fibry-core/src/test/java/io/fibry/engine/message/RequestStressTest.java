package io.fibry.engine.message;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.ActorScope;
import io.fibry.ActorStoppedException;
import io.fibry.ActorWithReturn;
import io.fibry.Strategy;
import io.fibry.engine.scope.Scopes;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import io.fibry.testing.StressRuns;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests that each request completes, even if it races with the end of its actor. */
class RequestStressTest {
  private static final int SENDERS = 2;
  private static final int REQUESTS = Soak.ON ? 1_000_000 : 16_000; // for each kind of stop
  private static final int MAX_REQUESTS = Soak.ON ? 2_000 : 400; // of a sender in a round, in addition to the first 99

  enum Stop { ASK_EXIT, PILL, KILL, SHUTDOWN, EXIT_AND_SHUTDOWN }

  @ParameterizedTest
  @EnumSource(Stop.class)
  void everyRequestThatRacesWithStopCompletes(Stop stop) throws Exception {
    long seed = StressRuns.seed();
    System.out.println("requests that race with " + stop + ": -Dfibry.seed=" + seed);
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
    private final int requestsPerSender;
    private final int stopAfter;

    Round(Stop stop, SplittableRandom random) {
      this.stop = stop;
      this.random = random;
      this.pool = stop.compareTo(Stop.SHUTDOWN) >= 0
          ? Executors.newFixedThreadPool(1, Thread.ofPlatform().daemon().factory()) : null;
      this.requestsPerSender = 100 + random.nextInt(MAX_REQUESTS);
      this.stopAfter = 1 + random.nextInt(requestsPerSender * SENDERS);
      var strategies = List.of(Strategy.FIBER, Strategy.THREAD, Strategy.RESIDENT_FIBER, Strategy.CALLER);
      var strategy = pool != null ? Strategy.of(pool) : strategies.get(random.nextInt(strategies.size()));
      this.actor = Scopes.root("requests", ActorScope.Options.defaults()).anonymous().strategy(strategy)
          .newActorWithReturn((Integer i) -> i);
    }

    void play() throws InterruptedException {
      var sends = new ArrayList<Future<?>>();
      for (int i = 0; i < SENDERS; i++) {
        var ownFutures = new ArrayList<CompletableFuture<Integer>>(requestsPerSender);
        futures.add(ownFutures);
        var send = new FutureTask<>(() -> send(ownFutures), null);
        sends.add(send);
        (random.nextBoolean() ? Thread.ofVirtual() : Thread.ofPlatform()).start(send);
      }
      sends.forEach(Patience::value);
      if (stop != Stop.SHUTDOWN) Patience.awaitEnd(actor::waitForExit);
    }

    private void send(List<CompletableFuture<Integer>> ownFutures) {
      for (int i = 0; i < requestsPerSender; i++) {
        ownFutures.add(actor.sendMessageReturn(i));
        if (progress.incrementAndGet() == stopAfter) stop();
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
      return requestsPerSender * SENDERS;
    }

    int incomplete() throws InterruptedException {
      // the actor notices the shutdown of its executor only at its next activation
      if (stop == Stop.SHUTDOWN) actor.sendMessage(0);
      int count = 0;
      for (var ownFutures : futures) for (var future : ownFutures) if (!hasPromisedOutcome(future)) count++;
      if (pool != null) pool.shutdown();
      return count;
    }

    private static boolean hasPromisedOutcome(CompletableFuture<Integer> future) throws InterruptedException {
      StressRuns.awaitOutcome(future);
      try {
        future.get();
        return true;
      } catch (ExecutionException failure) {
        return failure.getCause() instanceof ActorStoppedException;
      }
    }
  }
}
