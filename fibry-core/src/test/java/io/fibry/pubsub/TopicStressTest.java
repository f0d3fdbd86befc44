package io.fibry.pubsub;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Promise;
import io.fibry.Strategy;
import io.fibry.StressHarness;
import io.fibry.Variants;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Test;

/** Messages that are published during a subscription arrive once, in the publisher's order. */
class TopicStressTest {
  private static final int PUBLISHERS = 3;
  private static final int MESSAGES = 200;

  private record Numbered(int publisher, int number) {}

  /** The messages that one subscriber got, and those that it must get from each publisher. */
  private static final class Box {
    private final String kind;
    private final ConcurrentLinkedQueue<Numbered> told = new ConcurrentLinkedQueue<>();
    private final int[] from = new int[PUBLISHERS];
    private final int[] to = new int[PUBLISHERS];

    Box(String kind) {
      this.kind = kind;
    }

    void check() {
      for (int p = 0; p < PUBLISHERS; p++) {
        int publisher = p;
        var numbers = told.stream().filter(m -> m.publisher() == publisher).map(Numbered::number).toList();
        for (int i = 1; i < numbers.size(); i++)
          assertEquals(numbers.get(i - 1) + 1, numbers.get(i), kind + " was told of " + publisher + ": " + numbers);
        if (from[p] > to[p]) continue;
        boolean all = !numbers.isEmpty() && numbers.getFirst() <= from[p] && numbers.getLast() >= to[p];
        assertTrue(all, () -> kind + " missed some of " + from[publisher] + " to " + to[publisher] + " of " + publisher
            + ": " + numbers);
      }
    }
  }

  private final long seed = StressHarness.seed();
  private final AtomicIntegerArray begun = new AtomicIntegerArray(PUBLISHERS);
  private final AtomicIntegerArray done = new AtomicIntegerArray(PUBLISHERS);
  private final List<Box> boxes = new ArrayList<>();
  private Topic<Numbered> topic;

  @Promise("21.1")
  @Test
  void messagesToOpenSubscriptionArriveOnceInOrder() {
    System.out.println("topics: -Dfibry.seed=" + seed);
    var strategies = List.copyOf(Variants.STRATEGIES.values());
    long end = System.nanoTime() + StressHarness.millis(600) * 1_000_000;
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
    boxes.clear();
    for (int p = 0; p < PUBLISHERS; p++) {
      begun.set(p, 0);
      done.set(p, 0);
    }
    try (var scope = ActorSystem.openScope("stress")) {
      topic = Topic.open(scope.anonymous().strategy(strategy));
      var publishers = new ArrayList<Thread>();
      var over = new AtomicBoolean();
      come(scope, strategy, random);
      for (int p = 0; p < PUBLISHERS; p++) publishers.add(publisher(p));
      var churn = Patience.startFiber(() -> churn(scope, strategy, random, over));

      publishers.forEach(Patience::joined);
      over.set(true);
      Patience.joined(churn);
      topic.close();
      assertTrue(scope.awaitQuiescence(Patience.LONG));

      boxes.forEach(Box::check);
      assertTrue(boxes.stream().anyMatch(box -> !box.told.isEmpty()));
      var report = scope.report();
      assertEquals(report.sent(),
          report.handled() + report.unhandled().values().stream().mapToLong(Long::longValue).sum(), report::toString);
    }
  }

  private Thread publisher(int publisher) {
    return Patience.startFiber(() -> {
      for (int i = 1; i <= MESSAGES; i++) {
        begun.set(publisher, i);
        topic.publish(new Numbered(publisher, i));
        done.set(publisher, i);
      }
    });
  }

  /** Subscribers come and go meanwhile. */
  private void churn(ActorScope scope, Strategy strategy, SplittableRandom random, AtomicBoolean over) {
    var open = new ArrayList<Runnable>();
    for (int i = 0; i < 8 || !over.get() && i < 200; i++) {
      open.add(come(scope, strategy, random));
      if (open.size() > 6) open.remove(random.nextInt(open.size())).run();
      for (int spins = random.nextInt(500); spins > 0; spins--) Thread.onSpinWait();
      if (random.nextInt(4) == 0) Thread.yield();
    }
  }

  /** Subscribes; answers builder to leave. Those that stay get all. */
  private Runnable come(ActorScope scope, Strategy strategy, SplittableRandom random) {
    return switch (random.nextInt(4)) {
      case 0 -> {
        var box = new Box("an actor of its own");
        var subscription = topic.subscribe(Mailbox.bounded(1 + random.nextInt(4), Overflow.BLOCK), box.told::add);
        opened(box);
        yield () -> {
          nothingMore(box); // the rest is undelivered
          subscription.close();
        };
      }
      case 1 -> {
        var box = new Box("somebody's actor");
        var actor = scope.anonymous().strategy(strategy).mailbox(Mailbox.bounded(1 + random.nextInt(4), Overflow.BLOCK))
            .newActor((Numbered m) -> box.told.add(m));
        var subscription = topic.subscribe(actor);
        opened(box);
        yield random.nextBoolean() ? () -> leave(box, subscription) : () -> end(box, actor);
      }
      case 2 -> {
        var box = new Box("the publishers' threads");
        var subscription = topic.subscribeOn(Runnable::run, box.told::add);
        opened(box);
        yield () -> leave(box, subscription);
      }
      default -> {
        var box = new Box("tasks of an actor");
        var actor = scope.anonymous().strategy(strategy).newActor((Object m) -> {});
        var subscription = topic.subscribeOn(actor, box.told::add);
        opened(box);
        yield () -> {
          nothingMore(box); // no more tasks begin
          subscription.close();
        };
      }
    };
  }

  /** It must get what is published from now on. */
  private void opened(Box box) {
    for (int p = 0; p < PUBLISHERS; p++) {
      box.from[p] = begun.get(p) + 1;
      box.to[p] = MESSAGES;
    }
    boxes.add(box);
  }

  /** It must have got what was published before. */
  private void leave(Box box, Subscription subscription) {
    for (int p = 0; p < PUBLISHERS; p++) box.to[p] = done.get(p);
    subscription.close();
  }

  /** Does the same for an actor that ends after it. */
  private void end(Box box, Actor<?> actor) {
    for (int p = 0; p < PUBLISHERS; p++) box.to[p] = done.get(p);
    actor.sendPoisonPill();
  }

  private static void nothingMore(Box box) {
    for (int p = 0; p < PUBLISHERS; p++) box.to[p] = 0;
  }
}
