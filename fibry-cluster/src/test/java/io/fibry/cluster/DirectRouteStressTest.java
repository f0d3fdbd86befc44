package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.ActorStoppedException;
import io.fibry.ActorSystem;
import io.fibry.cluster.NamedMessages.Count;
import io.fibry.cluster.NamedMessages.Entry;
import io.fibry.cluster.NamedMessages.Sent;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import java.util.ArrayList;
import java.util.SplittableRandom;
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

  @Test
  void messagesOfSenderArriveOnceAndInOrder() {
    for (int round = 0; round < ROUNDS; round++) {
      var messages = new NamedMessages();
      var results = new ArrayList<CompletableFuture<Sent>>();
      try (Actor<Entry> actor = scope.anonymous().newActor(messages::handle)) {
        var offer = node.expose("counter", Entry.class, actor);
        for (int i = 0; i < SENDERS; i++) {
          int sender = i;
          var senderRandom = random.split();
          results
              .add(Patience.callOnFiber(() -> NamedMessages.send(node.actor("counter", Entry.class), sender, MESSAGES,
                  senderRandom, Patience.LONG)));
        }
        for (var result : results) Patience.value(result).answers().forEach(Patience::value);
        offer.close();
      }
      for (int i = 0; i < SENDERS; i++) messages.check(i, Patience.value(results.get(i)));
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
      askers.add(Patience.callOnThread(() -> askUntil(isOver, counter)));
    try {
      for (int i = 0; i < CLOSINGS; i++) {
        Actor<Entry> actor = scope.anonymous().newActor(new NamedMessages()::handle);
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
