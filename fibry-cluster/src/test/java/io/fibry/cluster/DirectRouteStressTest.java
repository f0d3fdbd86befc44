package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorStoppedException;
import io.fibry.ActorSystem;
import io.fibry.Done;
import io.fibry.Request;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Tests senders that send messages and requests by name at random, of which some pass the network
 * and others do not.
 */
class DirectRouteStressTest {
  private static final int ROUNDS = Soak.ON ? 10_000 : 60;
  private static final int CLOSINGS = Soak.ON ? 100_000 : 1_000;
  private static final int SENDERS = 4;
  private static final int MESSAGES = 300; // of a sender in a round

  sealed interface Entry {}

  record Note(int sender, int number) implements Entry {}

  record Count(int sender, int number) implements Entry, Request<Count, Done> {}

  private final ActorScope scope = ActorSystem.openScope("direct-route-stress");
  private final Cluster node = Cluster.local("shop");
  private final long seed = Long.getLong("fibry.seed", System.nanoTime());
  private final SplittableRandom random = new SplittableRandom(seed);

  @BeforeEach
  void printSeed() {
    System.out.println("requests by name: -Dfibry.seed=" + seed);
  }

  @AfterEach
  void close() {
    node.close();
    scope.close();
  }

  // ---- order

  /** The numbers that arrived in a round. Used by the actor's thread, and read at the end. */
  private static final class Arrivals {
    private final Map<Integer, List<Integer>> numbers = new HashMap<>(); // by sender

    void handle(Entry entry, ActorContext<Entry> context) {
      switch (entry) {
        case Note note -> add(note.sender, note.number);
        case Count count -> {
          add(count.sender, count.number);
          context.reply(count, Done.DONE);
        }
      }
    }

    private void add(int sender, int number) {
      numbers.computeIfAbsent(sender, key -> new ArrayList<>()).add(number);
    }
  }

  /** The messages of a sender that must arrive; cancelled requests may arrive. */
  private record Sent(List<Integer> numbers, List<Integer> cancelled) {}

  @Test
  void messagesOfSenderArriveOnceAndInOrder() {
    for (int round = 0; round < ROUNDS; round++) {
      var arrivals = new Arrivals();
      var results = new ArrayList<CompletableFuture<Sent>>();
      try (Actor<Entry> actor = scope.anonymous().newActor(arrivals::handle)) {
        var offer = node.expose("counter", Entry.class, actor);
        for (int sender = 0; sender < SENDERS; sender++) {
          int number = sender;
          var senderRandom = random.split();
          results.add(Patience.callOnFiber(() -> send(node.actor("counter", Entry.class), number, senderRandom)));
        }
        results.forEach(Patience::value);
        offer.close();
      }
      for (int sender = 0; sender < SENDERS; sender++)
        check(Patience.value(results.get(sender)), arrivals.numbers.getOrDefault(sender, List.of()));
    }
  }

  private static void check(Sent sent, List<Integer> arrived) {
    assertEquals(arrived.stream().sorted().distinct().toList(), arrived, "order of a sender");
    assertEquals(sent.numbers, arrived.stream().filter(number -> !sent.cancelled.contains(number)).toList());
  }

  private static Sent send(Actor<Entry> counter, int sender, SplittableRandom random) {
    var sent = new Sent(new ArrayList<>(), new ArrayList<>());
    var answers = new ArrayList<Future<Done>>();
    for (int number = 0; number < MESSAGES; number++) {
      boolean isCancelled = false;
      switch (random.nextInt(12)) {
        case 0 -> counter.sendMessage(new Note(sender, number));
        case 1 -> answers.add(counter.sendMessageReturn(new Count(sender, number)));
        case 2 -> isCancelled = counter.sendMessageReturn(new Count(sender, number)).cancel(true);
        case 3 -> isCancelled = isInterrupted(counter, new Count(sender, number));
        case 4 -> counter.ask(new Count(sender, number), Patience.LONG);
        default -> counter.ask(new Count(sender, number));
      }
      (isCancelled ? sent.cancelled : sent.numbers).add(number);
    }
    counter.ask(new Count(sender, MESSAGES)); // so that all messages have arrived
    sent.numbers.add(MESSAGES);
    answers.forEach(Patience::value);
    return sent;
  }

  /** Asks on an interrupted thread. Returns whether the request was cancelled. */
  private static boolean isInterrupted(Actor<Entry> counter, Count request) {
    Thread.currentThread().interrupt();
    try {
      counter.ask(request);
      return false;
    } catch (CancellationException interrupt) {
      return true;
    } finally {
      Thread.interrupted();
    }
  }

  // ---- the end of an offer

  /** The actor ends as soon as its offer is withdrawn, so a later request would find it ended. */
  @Test
  void noRequestArrivesAfterOfferWasClosed() {
    var isOver = new AtomicBoolean();
    var counter = node.actor("counter", Entry.class);
    var askers = new ArrayList<Future<Integer>>();
    for (int asker = 0; asker < SENDERS; asker++)
      askers.add(Patience.callOnFiber(() -> askUntil(isOver, counter)));
    try {
      for (int i = 0; i < CLOSINGS; i++) {
        Actor<Entry> actor = scope.anonymous().newActor(new Arrivals()::handle);
        var offer = node.expose("counter", Entry.class, actor);
        counter.ask(new Count(SENDERS, i));
        offer.close();
        actor.close();
      }
    } finally {
      isOver.set(true);
    }
    for (var asker : askers) assertEquals(0, Patience.value(asker));
  }

  /** Returns how often the actor had ended. */
  private static int askUntil(AtomicBoolean isOver, Actor<Entry> counter) {
    int lateRequests = 0;
    for (int number = 0; !isOver.get(); number++) {
      try {
        counter.ask(new Count(0, number));
      } catch (UnavailableException noOffer) {
        Thread.yield();
      } catch (ActorStoppedException late) {
        lateRequests++;
      }
    }
    return lateRequests;
  }
}
