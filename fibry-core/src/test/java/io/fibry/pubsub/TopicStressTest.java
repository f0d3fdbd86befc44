package io.fibry.pubsub;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Strategy;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
import io.fibry.testing.Promise;
import io.fibry.testing.StressRuns;
import io.fibry.testing.Variants;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Test;

/**
 * Tests that each subscriber gets the messages that are published during its subscription once, and
 * in the order of each publisher.
 */
class TopicStressTest {
  private static final int PUBLISHERS = 3;
  private static final int MESSAGES = 200;

  private record Message(int publisher, int number) {}

  /** The messages that one subscriber received, and the numbers that it must receive. */
  private static final class Inbox {
    private final String kind;
    private final ConcurrentLinkedQueue<Message> received = new ConcurrentLinkedQueue<>();
    private final int[] firstNumbers = new int[PUBLISHERS]; // per publisher
    private final int[] lastNumbers = new int[PUBLISHERS]; // per publisher

    Inbox(String kind) {
      this.kind = kind;
    }

    void check() {
      for (int p = 0; p < PUBLISHERS; p++) {
        int publisher = p;
        var numbers = received.stream().filter(m -> m.publisher() == publisher).map(Message::number).toList();
        for (int i = 1; i < numbers.size(); i++)
          assertEquals(numbers.get(i - 1) + 1, numbers.get(i), kind + " received of " + publisher + ": " + numbers);
        if (firstNumbers[p] > lastNumbers[p]) continue;
        boolean complete =
            !numbers.isEmpty() && numbers.getFirst() <= firstNumbers[p] && numbers.getLast() >= lastNumbers[p];
        assertTrue(complete, () -> kind + " missed some of " + firstNumbers[publisher] + " to "
            + lastNumbers[publisher] + " of publisher " + publisher + ": " + numbers);
      }
    }
  }

  private final long seed = StressRuns.seed();
  private final AtomicIntegerArray lastBegun = new AtomicIntegerArray(PUBLISHERS);
  private final AtomicIntegerArray lastPublished = new AtomicIntegerArray(PUBLISHERS);
  private final List<Inbox> inboxes = new ArrayList<>();
  private Topic<Message> topic;

  @Promise("21.1")
  @Test
  void messagesToOpenSubscriptionArriveOnceInOrder() {
    System.out.println("topics: -Dfibry.seed=" + seed);
    var strategies = List.copyOf(Variants.STRATEGIES.values());
    long end = System.nanoTime() + StressRuns.millis(600) * 1_000_000;
    for (int round = 0; round < strategies.size() || System.nanoTime() < end; round++) {
      var random = new SplittableRandom(seed + round);
      var strategy = strategies.get(round % strategies.size());
      try {
        play(random, strategy);
      } catch (Throwable failure) {
        throw new AssertionError(
            "round " + round + " on " + strategy + ", -Dfibry.seed=" + seed + ": " + failure.getMessage(), failure);
      }
    }
  }

  void play(SplittableRandom random, Strategy strategy) {
    inboxes.clear();
    for (int p = 0; p < PUBLISHERS; p++) {
      lastBegun.set(p, 0);
      lastPublished.set(p, 0);
    }
    try (var scope = ActorSystem.openScope("stress")) {
      topic = Topic.open(scope.anonymous().strategy(strategy));
      var publishers = new ArrayList<Thread>();
      var publishersEnded = new AtomicBoolean();
      subscribe(scope, strategy, random);
      for (int p = 0; p < PUBLISHERS; p++) publishers.add(publisher(p));
      var churnFiber = Patience.startFiber(() -> churn(scope, strategy, random, publishersEnded));

      publishers.forEach(Patience::awaitEnd);
      publishersEnded.set(true);
      Patience.awaitEnd(churnFiber);
      topic.close();
      assertTrue(scope.awaitQuiescence(Patience.LONG));

      inboxes.forEach(Inbox::check);
      assertTrue(inboxes.stream().anyMatch(inbox -> !inbox.received.isEmpty()));
      var report = scope.report();
      assertEquals(report.sent(),
          report.handled() + report.unhandled().values().stream().mapToLong(Long::longValue).sum(), report::toString);
    }
  }

  private Thread publisher(int publisher) {
    return Patience.startFiber(() -> {
      for (int i = 1; i <= MESSAGES; i++) {
        lastBegun.set(publisher, i);
        topic.publish(new Message(publisher, i));
        lastPublished.set(publisher, i);
      }
    });
  }

  /** Adds and removes subscribers until the publishers have ended. */
  private void churn(ActorScope scope, Strategy strategy, SplittableRandom random, AtomicBoolean publishersEnded) {
    var closeActions = new ArrayList<Runnable>();
    for (int i = 0; i < 8 || !publishersEnded.get() && i < 200; i++) {
      closeActions.add(subscribe(scope, strategy, random));
      if (closeActions.size() > 6) closeActions.remove(random.nextInt(closeActions.size())).run();
      for (int spins = random.nextInt(500); spins > 0; spins--) Thread.onSpinWait();
      if (random.nextInt(4) == 0) Thread.yield();
    }
  }

  /** Subscribes, and returns code that ends the subscription. */
  private Runnable subscribe(ActorScope scope, Strategy strategy, SplittableRandom random) {
    return switch (random.nextInt(4)) {
      case 0 -> {
        var inbox = new Inbox("an actor of the topic");
        var subscription = topic.subscribe(Mailbox.bounded(1 + random.nextInt(4), Overflow.BLOCK), inbox.received::add);
        expectAllFromNow(inbox);
        yield () -> {
          expectNothing(inbox); // queued messages may become undelivered
          subscription.close();
        };
      }
      case 1 -> {
        var inbox = new Inbox("an actor of the test");
        var actor = scope.anonymous().strategy(strategy).mailbox(Mailbox.bounded(1 + random.nextInt(4), Overflow.BLOCK))
            .newActor((Message m) -> inbox.received.add(m));
        var subscription = topic.subscribe(actor);
        expectAllFromNow(inbox);
        yield random.nextBoolean() ? () -> unsubscribe(inbox, subscription) : () -> endActor(inbox, actor);
      }
      case 2 -> {
        var inbox = new Inbox("the publishers' threads");
        var subscription = topic.subscribeOn(Runnable::run, inbox.received::add);
        expectAllFromNow(inbox);
        yield () -> unsubscribe(inbox, subscription);
      }
      default -> {
        var inbox = new Inbox("tasks of an actor");
        var actor = scope.anonymous().strategy(strategy).newActor((Object m) -> {});
        var subscription = topic.subscribeOn(actor, inbox.received::add);
        expectAllFromNow(inbox);
        yield () -> {
          expectNothing(inbox); // queued tasks do not begin
          subscription.close();
        };
      }
    };
  }

  /** Records that the subscriber must receive all messages that are published from now on. */
  private void expectAllFromNow(Inbox inbox) {
    for (int p = 0; p < PUBLISHERS; p++) {
      inbox.firstNumbers[p] = lastBegun.get(p) + 1;
      inbox.lastNumbers[p] = MESSAGES;
    }
    inboxes.add(inbox);
  }

  /**
   * Closes the subscription. The subscriber must receive the messages that were published before.
   */
  private void unsubscribe(Inbox inbox, Subscription subscription) {
    for (int p = 0; p < PUBLISHERS; p++) inbox.lastNumbers[p] = lastPublished.get(p);
    subscription.close();
  }

  /** Ends the actor. The subscriber must receive the messages that were published before. */
  private void endActor(Inbox inbox, Actor<?> actor) {
    for (int p = 0; p < PUBLISHERS; p++) inbox.lastNumbers[p] = lastPublished.get(p);
    actor.sendPoisonPill();
  }

  private static void expectNothing(Inbox inbox) {
    for (int p = 0; p < PUBLISHERS; p++) inbox.lastNumbers[p] = 0;
  }
}
