package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.Outcome;
import io.fibry.RequestException;
import io.fibry.durable.OutcomeContract.Put;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/** Clients that send a request again where its outcome is NOT_DONE, and nowhere else. */
final class OutcomeClients {
  private static final int MANY = 4;

  private final Map<Outcome, Set<String>> ends = new ConcurrentHashMap<>(); // items without an answer
  private final Set<String> answered = ConcurrentHashMap.newKeySet();
  private final AtomicInteger again = new AtomicInteger();
  private final List<CompletableFuture<Void>> running = new ArrayList<>();

  OutcomeClients(Random random, int each, Supplier<Actor<Put>> actor) {
    for (var one : Outcome.values()) ends.put(one, ConcurrentHashMap.newKeySet());
    for (int c = 0; c < MANY; c++) {
      int client = c;
      var dice = new Random(random.nextLong());
      var done = new CompletableFuture<Void>();
      running.add(done);
      Patience.startFiber(() -> {
        for (int i = 0; i < each; i++) send(new Put(client + ":" + i), actor, dice);
        return null;
      }, done);
    }
  }

  boolean areDone() {
    return running.stream().allMatch(CompletableFuture::isDone);
  }

  private void send(Put put, Supplier<Actor<Put>> actor, Random dice) {
    while (true) try {
      if (dice.nextBoolean()) actor.get().ask(put);
      else actor.get().sendMessageReturn(put, Duration.ofMillis(1 + dice.nextInt(3_000))).join();
      answered.add(put.item());
      return;
    } catch (RuntimeException failure) {
      var outcome = RequestException.outcomeOf(failure, put);
      if (outcome != Outcome.NOT_DONE) {
        ends.get(outcome).add(put.item());
        return;
      }
      again.incrementAndGet();
      LockSupport.parkNanos(dice.nextInt(100_000));
    }
  }

  void check(List<String> stored, List<String> aside, boolean keeps, String seed) {
    running.forEach(Patience::value);
    System.out.println(answered.size() + " answered, " + again + " sent again, " + ends.get(Outcome.WILL_BE_DONE).size()
        + " that will be done, " + ends.get(Outcome.UNKNOWN).size() + " unknown, " + aside.size() + " aside");
    var once = new HashSet<String>();
    for (var item : stored) assertTrue(once.add(item), () -> item + " was done twice; " + seed);
    assertEquals(Set.of(), without(answered, stored), "lost though it was answered; " + seed);
    var lost = without(ends.get(Outcome.WILL_BE_DONE), stored);
    lost.removeAll(aside);
    assertEquals(Set.of(), lost, "lost though it would be done; " + seed);
    assertTrue(again.get() > 0, () -> "nothing was sent again; " + seed);
    assertEquals(keeps, !ends.get(Outcome.WILL_BE_DONE).isEmpty(), seed);
  }

  private static Set<String> without(Set<String> items, List<String> others) {
    var left = new HashSet<>(items);
    others.forEach(left::remove);
    return left;
  }
}
