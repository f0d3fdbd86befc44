package io.fibry.engine.message;

import static io.fibry.support.Patience.await;
import static io.fibry.support.Patience.awaitEnd;

import io.fibry.ActorWithReturn;
import io.fibry.Strategy;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import io.fibry.testing.Gate;
import io.fibry.testing.StressRuns;
import io.fibry.testing.Variants;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Chains callbacks to requests that are answered or cancelled at the same time. No thread may wait
 * forever.
 */
class ChainingStressTest {
  private static final int ROUNDS = Soak.ON ? 500_000 : 20_000;

  private final LongAdder rounds = new LongAdder();

  @AfterEach
  void openGates() {
    Gate.openAll();
  }

  /**
   * Four virtual threads chain and cancel, and may occupy all carriers. A thread that waited for a
   * result without releasing its carrier could starve the fiber that completes the future.
   */
  @Test
  void cancelOfChainedRequestFinishesWithAllCarriersBusy() {
    try (var pool = Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon().factory())) {
      long seed = StressRuns.seed();
      System.out.println("cancels that race with chained answers: -Dfibry.seed=" + seed);
      var random = new SplittableRandom(seed);
      var actor = Variants.scope(o -> o).anonymous().strategy(Strategy.of(pool))
          .newActorWithReturn((Integer message) -> message);

      List<Thread> cancellers = Stream.generate(random::split).limit(4)
          .map(cancellerRandom -> Patience.startFiber(() -> cancelChained(actor, cancellerRandom))).toList();

      Patience.progress(rounds::sum, () -> cancellers.stream().noneMatch(Thread::isAlive));
      cancellers.forEach(Patience::awaitEnd);
    }
  }

  private void cancelChained(ActorWithReturn<Integer, Integer> actor, SplittableRandom random) {
    for (int i = 0; i < ROUNDS; i++, rounds.increment()) {
      var request = actor.sendMessageReturn(i);
      request.thenAccept(value -> {});
      for (int spins = random.nextInt(1_000); spins > 0; spins--) Thread.onSpinWait();
      request.cancel(false);
    }
  }

  @Test
  void thenAcceptReturnsWhileOtherCallbackIsBlocked() {
    var actor = Variants.scope(o -> o).anonymous().newActorWithReturn((Object message) -> {
      if (message instanceof Gate gate) gate.pass();
      return 1;
    });
    var gate = Gate.occupy(actor);
    var callbackGate = new Gate();
    var request = actor.sendMessageReturn("question");
    CompletableFuture.allOf(request).thenRun(callbackGate::passUninterruptibly);
    gate.open();
    await(callbackGate.entered);

    var callbackRun = new CountDownLatch(1);
    var chainingThread = Thread.ofPlatform().daemon().start(() -> request.thenAccept(value -> callbackRun.countDown()));

    awaitEnd(chainingThread);
    await(callbackRun);
  }
}
