package io.fibry.pubsub;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.AskCycleException;
import io.fibry.DeadLetter.Reason;
import io.fibry.ExitReason;
import io.fibry.FailurePolicy;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.testing.Variants;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests topics with subscribers on every strategy. */
class TopicContractTest extends TopicFixture {
  static Stream<String> strategies() {
    return Variants.STRATEGIES.keySet().stream();
  }

  private Topic<Object> topic(String strategy) {
    return Topic.open(
        scope.named("topic").strategy(Variants.STRATEGIES.get(strategy))
            .onFailure(FailurePolicy.resume().withoutLog()));
  }

  // ---- publishing

  @Promise("21.1")
  @ParameterizedTest
  @MethodSource("strategies")
  void eachSubscriberGetsMessagesInOrderOfPublisher(String strategy) {
    var topic = topic(strategy);
    var receivedLists = new ArrayList<List<Object>>();
    for (int i = 0; i < 4; i++) receivedLists.add(new CopyOnWriteArrayList<>());
    topic.subscribeToLatest(receivedLists.get(0)::add);
    topic.subscribe(Mailbox.bounded(2, Overflow.BLOCK), receivedLists.get(1)::add);
    var desk = scope.anonymous().newActor((Object m) -> receivedLists.get(2).add(m));
    topic.subscribe(desk);
    topic.subscribeOn(Runnable::run, receivedLists.get(3)::add);
    var all = IntStream.range(0, 500).<Object>mapToObj(i -> i).toList();

    all.forEach(topic::publish);
    topic.close();
    desk.close();

    assertEquals(List.of(all, all, all, all), receivedLists);
  }

  @Promise("21.2")
  @ParameterizedTest
  @MethodSource("strategies")
  void messagesReachOtherSubscribersWhenSubscriberFails(String strategy) {
    var topic = topic(strategy);
    topic.subscribeToLatest(m -> {
      throw new IllegalStateException("no");
    });
    topic.subscribeToLatest(received::add);

    topic.publish(1);
    topic.publish(2);
    topic.close();

    assertEquals(List.of(1, 2), received);
    assertEquals(List.of(1, 2), letters.messages(Reason.FAILED));
  }

  @Promise("21.2")
  @ParameterizedTest
  @MethodSource("strategies")
  void slowSubscriberDelaysNoOtherSubscriber(String strategy) {
    var topic = topic(strategy);
    topic.subscribeToLatest(received::add);
    topic.subscribe(Mailbox.bounded(1, Overflow.DROP_OLDEST), m -> {
      if (m instanceof Gate gate) gate.pass();
      received.add("slow " + m);
    });
    var gate = new Gate();
    // on CALLER this fiber runs the handler, which blocks it at the gate
    Patience.startFiber(() -> topic.publish(gate));
    Patience.await(gate.entered);

    for (int i = 1; i <= 3; i++) topic.publish(i);
    Patience.eventually(() -> received.containsAll(List.of(1, 2, 3)));
    gate.open();
    topic.close();

    assertEquals(List.of(1, 2), letters.messages(Reason.DROPPED));
    assertEquals("slow 3", received.getLast());
  }

  // ---- closing a subscription

  @Promise("21.3")
  @ParameterizedTest
  @MethodSource("strategies")
  void closedSubscriptionGetsNoMoreMessages(String strategy) {
    var topic = topic(strategy);
    var subscription = topic.subscribeToLatest(m -> received.add("closed " + m));
    topic.subscribeToLatest(received::add);

    subscription.close();
    topic.publish(1);
    topic.close();

    assertEquals(List.of(1), received);
    assertEquals(List.of(), letters.messages());
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void messagesQueuedForClosedSubscriptionAreUndelivered(String strategy) {
    var topic = topic(strategy);
    var gate = new Gate();
    var subscription = topic.subscribeToLatest(m -> {
      gate.pass();
      received.add(m);
    });
    var publisher = Patience.startFiber(() -> topic.publish(1));
    Patience.await(gate.entered);
    topic.publish(2);

    subscription.close();
    gate.open();
    topic.close();
    Patience.awaitEnd(publisher);

    assertEquals(List.of(1), received);
    assertEquals(List.of(2), letters.messages(Reason.UNDELIVERED));
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void subscriberMayCloseItsSubscriptionInItsHandler(String strategy) {
    var topic = topic(strategy);
    var subscription = new CompletableFuture<Subscription>();
    subscription.complete(topic.subscribeToLatest(m -> {
      received.add(m);
      subscription.join().close();
    }));

    topic.publish(1);
    Patience.eventually(() -> received.size() == 1);
    topic.close();

    assertEquals(List.of(1), received);
  }

  @Promise("21.3")
  @ParameterizedTest
  @MethodSource("strategies")
  void endedSubscriberGetsNoMoreMessages(String strategy) {
    var topic = topic(strategy);
    var desk = scope.anonymous().strategy(Variants.STRATEGIES.get(strategy)).newActor((Object m) -> received.add(m));
    topic.subscribe(desk);
    topic.subscribeToLatest(received::add);
    desk.close();

    for (int i = 0; i < 100; i++) topic.publish(i);
    topic.close();

    assertEquals(100, received.size());
    // the first message may be a dead letter, because the topic may learn only from it that `desk`
    // has ended
    assertTrue(letters.all.size() <= 1, () -> "dead letters: " + letters.messages());
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void subscriberStoppedByItsPolicyGetsNoMoreMessages(String strategy) {
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

  // ---- end of the topic

  @Promise("21.4")
  @ParameterizedTest
  @MethodSource("strategies")
  void closeHandlesPublishedMessagesAndEndsOnlyActorsOfTopic(String strategy) {
    var topic = topic(strategy);
    var desk = scope.anonymous().newActor((Object m) -> {});
    topic.subscribe(desk);
    topic.subscribeToLatest(received::add);
    for (int i = 0; i < 100; i++) topic.publish(i);

    topic.close();

    assertEquals(100, received.size());
    assertEquals(new ExitReason.Finished(), topic.onExit().resultNow());
    assertFalse(desk.onExit().isDone());
    assertEquals(0, scope.report().unresponsive().size());
    // the thread of the topic's actor ends a little later than the topic
    Patience.eventually(() -> !scope.dump().contains("topic"));
  }

  @Promise("21.4")
  @ParameterizedTest
  @MethodSource("strategies")
  void messagePublishedAfterEndIsDeadLetter(String strategy) {
    var topic = topic(strategy);
    topic.subscribeToLatest(received::add);

    topic.sendPoisonPill();
    topic.publish("late");
    topic.close();
    topic.publish("later");

    assertEquals(List.of(), received);
    assertEquals(List.of("late", "later"), letters.messages(Reason.UNDELIVERED));
    assertEquals("topic", letters.all.getLast().actor());
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void askExitLeavesQueuedMessagesUndelivered(String strategy) {
    var topic = topic(strategy);
    var gate = new Gate();
    topic.subscribeToLatest(m -> {
      gate.pass();
      received.add(m);
    });
    Patience.startFiber(() -> topic.publish(1));
    Patience.await(gate.entered);
    topic.publish(2);

    topic.askExit();
    gate.open();
    Patience.awaitEnd(topic::waitForExit);

    assertEquals(List.of(1), received);
    assertEquals(List.of(2), letters.messages(Reason.UNDELIVERED));
    assertEquals(new ExitReason.Stopped(), topic.onExit().resultNow());
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void killEndsTopicWhileSubscriberIsBusy(String strategy) {
    var topic = topic(strategy);
    var gate = new Gate();
    topic.subscribeToLatest(m -> gate.pass()); // this handler ends when the kill interrupts it
    Patience.startFiber(() -> topic.publish(1));
    Patience.await(gate.entered);

    topic.kill();
    Patience.awaitEnd(topic::waitForExit);

    assertEquals(new ExitReason.Killed(), topic.onExit().resultNow());
  }

  @Promise("21.6")
  @ParameterizedTest
  @MethodSource("strategies")
  void topicCloseInSubscriberDoesNotWaitForSubscriber(String strategy) {
    var topic = topic(strategy);
    topic.subscribeToLatest(m -> {
      topic.close();
      received.add("continued");
    });

    topic.publish(1);
    Patience.awaitEnd(topic::waitForExit);

    assertEquals(List.of("continued"), received);
    assertEquals(new ExitReason.Finished(), topic.onExit().resultNow());
  }

  @Promise("21.6")
  @ParameterizedTest
  @MethodSource("strategies")
  void subscriberWaitingForEndOfItsTopicGetsCycleException(String strategy) {
    var topic = topic(strategy);
    topic.subscribeToLatest(m -> received.add(assertThrows(AskCycleException.class, topic::waitForExit)));

    topic.publish(1);
    topic.close();

    assertInstanceOf(AskCycleException.class, received.getFirst());
  }

  @Promise("21.6")
  @ParameterizedTest
  @MethodSource("strategies")
  void topicEndsWithItsScopeAfterPublishedMessages(String strategy) {
    Topic<Object> topic;
    try (var innerScope = scope.openScope("inner")) {
      topic = Topic.open(innerScope.named("topic").strategy(Variants.STRATEGIES.get(strategy)));
      topic.subscribeToLatest(received::add);
      for (int i = 0; i < 100; i++) topic.publish(i);
    }

    topic.publish("late");

    assertEquals(100, received.size());
    assertEquals(new ExitReason.Stopped(), topic.onExit().resultNow());
    assertEquals(List.of("late"), letters.messages(Reason.UNDELIVERED));
  }

  @Promise("21.6")
  @ParameterizedTest
  @MethodSource("strategies")
  void closeOnExitRunsAfterLastSubscriberEnded(String strategy) {
    var topic =
        topic(strategy).closeOnExit(() -> received.add("first given, last closed"), () -> received.add("closed"));
    topic.subscribeToLatest(received::add);
    topic.publish(1);

    topic.close();

    assertEquals(List.of(1, "closed", "first given, last closed"), received);
  }
}
