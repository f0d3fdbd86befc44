package io.fibry.pubsub;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.AskCycleException;
import io.fibry.DeadLetter.Reason;
import io.fibry.ExitReason;
import io.fibry.FailurePolicy;
import io.fibry.Gate;
import io.fibry.Letters;
import io.fibry.Promise;
import io.fibry.Variants;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Topics with subscribers on every strategy. */
class TopicContractTest {
  private final Letters letters = new Letters();
  private final ActorScope scope =
      ActorSystem.openScope("test", o -> o.withDeadLetters(letters).withKillGrace(Duration.ofMillis(50)));
  private final List<Object> seen = new CopyOnWriteArrayList<>();

  static Stream<String> strategies() {
    return Variants.STRATEGIES.keySet().stream();
  }

  private Topic<Object> topic(String strategy) {
    return Topic.open(
        scope.named("topic").strategy(Variants.STRATEGIES.get(strategy))
            .onFailure(FailurePolicy.resume().withoutLog()));
  }

  @AfterEach
  void cleanUp() {
    Gate.openAll();
    scope.closeWithin(Patience.LONG);
  }

  // ---- telling

  @Promise("21.1")
  @ParameterizedTest
  @MethodSource("strategies")
  void eachSubscriberGetsWhatOnePublisherPublishedInItsOrder(String strategy) {
    var topic = topic(strategy);
    var boxes = new ArrayList<List<Object>>();
    for (int i = 0; i < 4; i++) boxes.add(new CopyOnWriteArrayList<>());
    topic.subscribeToLatest(boxes.get(0)::add);
    topic.subscribe(Mailbox.bounded(2, Overflow.BLOCK), boxes.get(1)::add);
    var desk = scope.anonymous().newActor((Object m) -> boxes.get(2).add(m));
    topic.subscribe(desk);
    topic.subscribeOn(Runnable::run, boxes.get(3)::add);
    var all = IntStream.range(0, 500).<Object>mapToObj(i -> i).toList();

    all.forEach(topic::publish);
    topic.close();
    desk.close();

    assertEquals(List.of(all, all, all, all), boxes);
  }

  @Promise("21.2")
  @ParameterizedTest
  @MethodSource("strategies")
  void aFailingSubscriberHarmsNeitherThePublisherNorTheOthers(String strategy) {
    var topic = topic(strategy);
    topic.subscribeToLatest(m -> {
      throw new IllegalStateException("no");
    });
    topic.subscribeToLatest(seen::add);

    topic.publish(1);
    topic.publish(2);
    topic.close();

    assertEquals(List.of(1, 2), seen);
    assertEquals(List.of(1, 2), letters.messages(Reason.FAILED));
  }

  @Promise("21.2")
  @ParameterizedTest
  @MethodSource("strategies")
  void aSlowSubscriberHoldsNobodyBackUnlessItsMailboxSaysSo(String strategy) {
    var topic = topic(strategy);
    topic.subscribeToLatest(seen::add);
    topic.subscribe(Mailbox.bounded(1, Overflow.DROP_OLDEST), m -> {
      if (m instanceof Gate gate) gate.pass();
      seen.add("slow " + m);
    });
    var gate = new Gate();
    Patience.startFiber(() -> topic.publish(gate)); // on CALLER it is handled there
    Patience.await(gate.entered);

    for (int i = 1; i <= 3; i++) topic.publish(i);
    Patience.eventually(() -> seen.containsAll(List.of(1, 2, 3)));
    gate.open();
    topic.close();

    assertEquals(List.of(1, 2), letters.messages(Reason.DROPPED));
    assertEquals("slow 3", seen.getLast());
  }

  // ---- leaving

  @Promise("21.3")
  @ParameterizedTest
  @MethodSource("strategies")
  void closedSubscriberIsToldNothingMore(String strategy) {
    var topic = topic(strategy);
    var leaving = topic.subscribeToLatest(m -> seen.add("left " + m));
    topic.subscribeToLatest(seen::add);

    leaving.close();
    topic.publish(1);
    topic.close();

    assertEquals(List.of(1), seen);
    assertEquals(List.of(), letters.messages());
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void messagesWaitingForClosedSubscriberAreUndelivered(String strategy) {
    var topic = topic(strategy);
    var gate = new Gate();
    var leaving = topic.subscribeToLatest(m -> {
      gate.pass();
      seen.add(m);
    });
    var first = Patience.startFiber(() -> topic.publish(1));
    Patience.await(gate.entered);
    topic.publish(2);

    leaving.close();
    gate.open();
    topic.close();
    Patience.joined(first);

    assertEquals(List.of(1), seen);
    assertEquals(List.of(2), letters.messages(Reason.UNDELIVERED));
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void aSubscriberMayLeaveInItsOwnHandler(String strategy) {
    var topic = topic(strategy);
    var subscription = new CompletableFuture<Subscription>();
    subscription.complete(topic.subscribeToLatest(m -> {
      seen.add(m);
      subscription.join().close();
    }));

    topic.publish(1);
    Patience.eventually(() -> seen.size() == 1);
    topic.close();

    assertEquals(List.of(1), seen);
  }

  @Promise("21.3")
  @ParameterizedTest
  @MethodSource("strategies")
  void endedSubscriberIsForgotten(String strategy) {
    var topic = topic(strategy);
    var desk = scope.anonymous().strategy(Variants.STRATEGIES.get(strategy)).newActor((Object m) -> seen.add(m));
    topic.subscribe(desk);
    topic.subscribeToLatest(seen::add);
    desk.close();

    for (int i = 0; i < 100; i++) topic.publish(i);
    topic.close();

    assertEquals(100, seen.size());
    // its end may be known after the first message
    assertTrue(letters.all.size() <= 1, () -> "dead letters: " + letters.messages());
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void subscriberThatFailedForGoodIsForgotten(String strategy) {
    Topic<Object> topic = Topic
        .open(
            scope.anonymous().strategy(Variants.STRATEGIES.get(strategy)).onFailure(FailurePolicy.stop().withoutLog()));
    topic.subscribeToLatest(m -> {
      throw new IllegalStateException("no");
    });
    topic.publish(1);
    Patience.eventually(() -> letters.all.size() == 1);

    for (int i = 0; i < 100; i++) topic.publish(i);

    Patience.eventually(() -> {
      int before = letters.all.size();
      topic.publish("once more");
      return letters.all.size() == before;
    });
  }

  // ---- ending

  @Promise("21.4")
  @ParameterizedTest
  @MethodSource("strategies")
  void closeHandlesPublishedMessagesAndEndsOnlyActorsOfTopic(String strategy) {
    var topic = topic(strategy);
    var desk = scope.anonymous().newActor((Object m) -> {});
    topic.subscribe(desk);
    topic.subscribeToLatest(seen::add);
    for (int i = 0; i < 100; i++) topic.publish(i);

    topic.close();

    assertEquals(100, seen.size());
    assertEquals(new ExitReason.Finished(), topic.onExit().resultNow());
    assertFalse(desk.onExit().isDone());
    assertEquals(0, scope.report().unresponsive().size());
    Patience.eventually(() -> !scope.dump().contains("topic")); // its thread leaves a little later
  }

  @Promise("21.4")
  @ParameterizedTest
  @MethodSource("strategies")
  void messagePublishedAfterEndIsDeadLetter(String strategy) {
    var topic = topic(strategy);
    topic.subscribeToLatest(seen::add);

    topic.sendPoisonPill();
    topic.publish("late");
    topic.close();
    topic.publish("later");

    assertEquals(List.of(), seen);
    assertEquals(List.of("late", "later"), letters.messages(Reason.UNDELIVERED));
    assertEquals("topic", letters.all.getLast().actor());
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void askExitLeavesWhatWaitsUndelivered(String strategy) {
    var topic = topic(strategy);
    var gate = new Gate();
    topic.subscribeToLatest(m -> {
      gate.pass();
      seen.add(m);
    });
    Patience.startFiber(() -> topic.publish(1));
    Patience.await(gate.entered);
    topic.publish(2);

    topic.askExit();
    gate.open();
    Patience.ended(topic::waitForExit);

    assertEquals(List.of(1), seen);
    assertEquals(List.of(2), letters.messages(Reason.UNDELIVERED));
    assertEquals(new ExitReason.Stopped(), topic.onExit().resultNow());
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void killEndsItsSubscribersAtOnceOrCutsThemOff(String strategy) {
    var topic = topic(strategy);
    var gate = new Gate();
    topic.subscribeToLatest(m -> gate.pass()); // obeys where it is interrupted
    Patience.startFiber(() -> topic.publish(1));
    Patience.await(gate.entered);

    topic.kill();
    Patience.ended(topic::waitForExit);

    assertEquals(new ExitReason.Killed(), topic.onExit().resultNow());
  }

  @Promise("21.6")
  @ParameterizedTest
  @MethodSource("strategies")
  void closeFromASubscribersHandlerDoesNotWait(String strategy) {
    var topic = topic(strategy);
    topic.subscribeToLatest(m -> {
      topic.close();
      seen.add("went on");
    });

    topic.publish(1);
    Patience.ended(topic::waitForExit);

    assertEquals(List.of("went on"), seen);
    assertEquals(new ExitReason.Finished(), topic.onExit().resultNow());
  }

  @Promise("21.6")
  @ParameterizedTest
  @MethodSource("strategies")
  void subscriberThatWaitsForItsTopicClosesCycle(String strategy) {
    var topic = topic(strategy);
    topic.subscribeToLatest(m -> seen.add(assertThrows(AskCycleException.class, topic::waitForExit)));

    topic.publish(1);
    topic.close();

    assertInstanceOf(AskCycleException.class, seen.getFirst());
  }

  @Promise("21.6")
  @ParameterizedTest
  @MethodSource("strategies")
  void topicEndsWithItsScopeAfterPublishedMessages(String strategy) {
    Topic<Object> topic;
    try (var inner = scope.openScope("inner")) {
      topic = Topic.open(inner.named("topic").strategy(Variants.STRATEGIES.get(strategy)));
      topic.subscribeToLatest(seen::add);
      for (int i = 0; i < 100; i++) topic.publish(i);
    }

    topic.publish("late");

    assertEquals(100, seen.size());
    assertEquals(new ExitReason.Stopped(), topic.onExit().resultNow());
    assertEquals(List.of("late"), letters.messages(Reason.UNDELIVERED));
  }

  @Promise("21.6")
  @ParameterizedTest
  @MethodSource("strategies")
  void closeOnExitRunsAfterLastSubscriberEnded(String strategy) {
    var topic = topic(strategy).closeOnExit(() -> seen.add("first given, last closed"), () -> seen.add("closed"));
    topic.subscribeToLatest(seen::add);
    topic.publish(1);

    topic.close();

    assertEquals(List.of(1, "closed", "first given, last closed"), seen);
  }
}
