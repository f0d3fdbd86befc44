package io.fibry.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.FailurePolicy;
import io.fibry.spi.ActorTotals.Total;
import io.fibry.support.Patience;
import io.fibry.testing.Promise;
import io.fibry.testing.StressRuns;
import io.fibry.testing.Variants;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Tests that sums read while actors end have each actor once. */
class ActorTotalsStressTest {
  private static final int ACTORS = 60;
  private static final int READERS = 2;

  private final long seed = StressRuns.seed();

  /**
   * Makes actors that have handled their messages or failed at them, and ends the actors on three
   * threads. Meanwhile, readers must always see all messages. A further thread opens totals while
   * actors end.
   */
  @Promise("19.24")
  @Test
  void actorThatEndsDuringReadCountsOnce() {
    var random = new Random(seed);
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(StressRuns.millis(1_000));
    do runRound(random.nextLong());
    while (System.nanoTime() < end);
  }

  private void runRound(long roundSeed) {
    try (var outer = Variants.scope(options -> options);
        var totals = ActorTotals.of(outer, ActorNames.of(List.of("cart-*", "other*")))) {
      var inner = outer.openScope("inner");
      var actors = new ArrayList<Actor<Integer>>();
      long messages = 0;
      for (int i = 0; i < ACTORS; i++) {
        var scope = i % 2 == 0 ? outer : inner;
        Actor<Integer> actor = scope.named((i % 3 == 0 ? "other-" : "cart-") + i)
            .onFailure(FailurePolicy.restart().withoutLog()).newActor(n -> {
              if (n % 2 == 1) throw new IllegalStateException("planned");
            });
        for (int n = 0; n < 2 * i; n++) actor.sendMessage(n);
        if (i % 3 != 0) messages += i;
        actors.add(actor);
      }
      assertTrue(outer.awaitQuiescence(Patience.LONG), () -> "seed " + seed);
      Collections.shuffle(actors, new Random(roundSeed));
      long expected = messages;
      var remaining = new AtomicInteger(ACTORS);
      var tasks = new ArrayList<CompletableFuture<?>>();
      for (int i = 0; i < READERS; i++)
        tasks.add(Patience.callOnThread(() -> readUntilEnd(totals, remaining, expected)));
      for (int i = 0; i < 3; i++) {
        int first = i;
        tasks.add(Patience.callOnFiber(() -> endActors(actors, first, remaining, roundSeed + first)));
      }
      tasks.add(Patience.callOnThread(() -> openUntilEnd(outer, remaining, expected)));
      for (var task : tasks) Patience.value(task);
      Patience.eventually("seed " + seed + ": an ended actor lives", () -> totals.read().getFirst().living() == 0);
      assertCounts(expected, totals.read().getFirst());
    }
  }

  private Void endActors(List<Actor<Integer>> actors, int first, AtomicInteger remaining, long ownSeed) {
    var random = new SplittableRandom(ownSeed);
    for (int i = first; i < actors.size(); i += 3) {
      StressRuns.jitter(random);
      if (random.nextBoolean()) actors.get(i).close();
      else {
        actors.get(i).askExit();
        actors.get(i).waitForExit();
      }
      remaining.decrementAndGet();
    }
    return null;
  }

  private void assertCounts(long expected, Total total) {
    assertEquals(List.of(expected, expected, expected), List.of(total.handled(), total.failed(), total.restarted()),
        () -> "seed " + seed);
  }

  private Void readUntilEnd(ActorTotals totals, AtomicInteger remaining, long expected) {
    int left;
    do {
      left = remaining.get();
      assertCounts(expected, totals.read().getFirst());
    } while (left > 0);
    return null;
  }

  /** Opens totals while actors end, whose sums must not exceed the messages. */
  private Void openUntilEnd(ActorScope scope, AtomicInteger remaining, long expected) {
    while (remaining.get() > 0) try (var late = ActorTotals.of(scope, ActorNames.of(List.of("cart-*")))) {
      for (int i = 0; i < 3; i++) {
        var total = late.read().getFirst();
        assertTrue(total.handled() <= expected && total.failed() <= expected && total.restarted() <= expected,
            () -> "seed " + seed + ": " + total + ", of " + expected);
      }
    }
    return null;
  }
}
