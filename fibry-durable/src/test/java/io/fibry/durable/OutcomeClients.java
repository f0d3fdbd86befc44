package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.RequestException;
import io.fibry.RequestOutcome;
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

/** Clients that send a request again if its outcome is NOT_DONE, and never otherwise. */
final class OutcomeClients {
  private static final int CLIENTS = 4;

  /** The items whose requests got no answer, by outcome. */
  private final Map<RequestOutcome, Set<String>> unanswered = new ConcurrentHashMap<>();
  private final Set<String> answered = ConcurrentHashMap.newKeySet();
  private final AtomicInteger repeats = new AtomicInteger();
  private final List<CompletableFuture<Void>> clients = new ArrayList<>();

  OutcomeClients(Random random, int requestsPerClient, Supplier<Actor<Put>> actor) {
    for (var outcome : RequestOutcome.values()) unanswered.put(outcome, ConcurrentHashMap.newKeySet());
    for (int c = 0; c < CLIENTS; c++) {
      int client = c;
      var clientRandom = new Random(random.nextLong());
      var end = new CompletableFuture<Void>();
      clients.add(end);
      Patience.startFiber(() -> {
        for (int i = 0; i < requestsPerClient; i++) send(new Put(client + ":" + i), actor, clientRandom);
        return null;
      }, end);
    }
  }

  boolean areDone() {
    return clients.stream().allMatch(CompletableFuture::isDone);
  }

  private void send(Put put, Supplier<Actor<Put>> actor, Random clientRandom) {
    Patience.eventually("each send of " + put + " had the outcome NOT_DONE", () -> trySend(put, actor, clientRandom));
  }

  /** Sends the request, and returns false if its outcome is NOT_DONE. */
  private boolean trySend(Put put, Supplier<Actor<Put>> actor, Random clientRandom) {
    try {
      if (clientRandom.nextBoolean()) actor.get().ask(put);
      else actor.get().sendMessageReturn(put, Duration.ofMillis(1 + clientRandom.nextInt(3_000))).join();
      answered.add(put.item());
      return true;
    } catch (RuntimeException failure) {
      var outcome = RequestException.outcomeOf(failure, put);
      if (outcome != RequestOutcome.NOT_DONE) {
        unanswered.get(outcome).add(put.item());
        return true;
      }
      repeats.incrementAndGet();
      LockSupport.parkNanos(clientRandom.nextInt(100_000));
      return false;
    }
  }

  void check(List<String> stored, List<String> parked, boolean isStored, String seed) {
    clients.forEach(Patience::value);
    System.out.println(answered.size() + " requests answered, " + repeats + " sent again, "
        + unanswered.get(RequestOutcome.WILL_BE_DONE).size() + " with outcome WILL_BE_DONE, "
        + unanswered.get(RequestOutcome.UNKNOWN).size() + " with outcome UNKNOWN, " + parked.size() + " parked");
    var distinct = new HashSet<String>();
    for (var item : stored) assertTrue(distinct.add(item), () -> item + " is stored twice; " + seed);
    assertEquals(Set.of(), without(answered, stored), "these items were answered, but are not stored; " + seed);
    var lostItems = without(unanswered.get(RequestOutcome.WILL_BE_DONE), stored);
    lostItems.removeAll(parked);
    assertEquals(Set.of(), lostItems, "these items had the outcome WILL_BE_DONE, but are not stored; " + seed);
    assertTrue(repeats.get() > 0, () -> "no request was sent again; " + seed);
    assertEquals(isStored, !unanswered.get(RequestOutcome.WILL_BE_DONE).isEmpty(),
        "whether a request had the outcome WILL_BE_DONE; " + seed);
  }

  private static Set<String> without(Set<String> items, List<String> removed) {
    var remaining = new HashSet<>(items);
    removed.forEach(remaining::remove);
    return remaining;
  }
}
