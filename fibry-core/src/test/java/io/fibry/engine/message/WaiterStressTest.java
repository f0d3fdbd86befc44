package io.fibry.engine.message;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.ActorWithReturn;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import io.fibry.testing.StressRuns;
import io.fibry.testing.Variants;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.Test;

/** Tests that each thread that waits for a request wakes, whichever thread completes it. */
class WaiterStressTest {
  private static final int ROUNDS = Soak.ON ? 500_000 : 20_000;
  private static final int ASKERS = 4;

  private final LongAdder rounds = new LongAdder();
  private final LongAdder wrongResults = new LongAdder();

  @Test
  void everyWaitingThreadWakesDespiteOtherWaitersAndInterrupts() {
    long seed = StressRuns.seed();
    System.out.println("threads that wait for requests: -Dfibry.seed=" + seed);
    var random = new SplittableRandom(seed);
    var actor = Variants.scope(o -> o).anonymous().newActorWithReturn((Integer message) -> {
      if (message % 7 == 0) throw new IllegalStateException("planned");
      return message;
    });

    var askers = new ArrayList<Thread>();
    for (int i = 0; i < ASKERS; i++) {
      var own = random.split();
      askers.add(Patience.startFiber(() -> ask(actor, own)));
    }

    Patience.progress(rounds::sum, () -> askers.stream().noneMatch(Thread::isAlive));
    askers.forEach(Patience::awaitEnd);
    assertEquals(0, wrongResults.sum());
  }

  private void ask(ActorWithReturn<Integer, Integer> actor, SplittableRandom random) {
    for (int i = 0; i < ROUNDS; i++, rounds.increment()) {
      var request = actor.sendMessageReturn(i);
      var others = new ArrayList<Thread>();
      for (int kind = random.nextInt(12); kind < 2; kind++) {
        int number = i;
        others.add(Patience.startFiber(() -> checkResult(number, request, random.split())));
      }
      if (random.nextInt(16) == 0) others.add(Patience.startFiber(() -> request.cancel(false)));
      if (random.nextInt(16) == 0) request.thenRun(() -> {});
      checkResult(i, request, random);
      if (random.nextInt(4) == 0) others.forEach(Thread::interrupt);
      others.forEach(Patience::awaitEnd);
    }
  }

  private void checkResult(int message, CompletableFuture<Integer> request, SplittableRandom random) {
    if (!List.of(expected(message), "cancelled", "interrupted").contains(result(request, random.nextInt(4))))
      wrongResults.increment();
  }

  private static Object expected(int message) {
    return message % 7 == 0 ? "failed" : message;
  }

  private static Object result(CompletableFuture<Integer> request, int way) {
    if (way == 0) Thread.currentThread().interrupt();
    try {
      return way == 1 ? request.join() : request.get();
    } catch (InterruptedException interrupt) {
      return "interrupted";
    } catch (CancellationException cancellation) {
      return "cancelled";
    } catch (ExecutionException | CompletionException failure) {
      return "failed";
    } finally {
      Thread.interrupted();
    }
  }
}
