package io.fibry.pubsub;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.FailurePolicy;
import io.fibry.Handler;
import io.fibry.Strategy;
import io.fibry.mailbox.Mailbox;
import io.fibry.pool.Pools;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests, for each kind of subscriber, that typical errors of publish-subscribe systems do not
 * occur.
 */
class TopicFaultTest {
  private final ActorScope scope = ActorSystem.openScope("test");
  private final Actor<Object> sharedActor =
      scope.named("shared").onFailure(FailurePolicy.resume().withoutLog()).newActor((Object m) -> {});
  private final ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();
  private final Topic<Object> topic = Topic.open(scope.named("topic").onFailure(FailurePolicy.resume().withoutLog()));
  private final List<Object> received = new CopyOnWriteArrayList<>();

  enum SubscriberKind { PUBLISHERS_THREAD, SHARED_ACTOR, ACTOR_OF_THE_TOPIC, ACTOR_PER_SUBSCRIBER, THREAD_PER_MESSAGE }

  private Subscription subscribe(SubscriberKind kind, Topic<Object> topic, Handler<Object> handler) {
    return switch (kind) {
      case PUBLISHERS_THREAD -> topic.subscribeOn(Runnable::run, handler);
      case SHARED_ACTOR -> topic.subscribeOn(sharedActor, handler);
      case ACTOR_OF_THE_TOPIC -> topic
          .subscribe(scope.anonymous().onFailure(FailurePolicy.resume().withoutLog()).newActor(handler));
      case ACTOR_PER_SUBSCRIBER -> topic.subscribeToLatest(handler);
      case THREAD_PER_MESSAGE -> topic.subscribeOn(executor, handler);
    };
  }

  private void assertReceived(Object... expected) {
    Patience.eventually(() -> received.size() >= expected.length);
    assertTrue(scope.awaitQuiescence(Patience.LONG));
    assertEquals(List.of(expected), received.stream().sorted().toList());
  }

  @AfterEach
  void cleanUp() {
    Gate.openAll();
    executor.close();
    scope.closeWithin(Patience.LONG);
  }

  @ParameterizedTest
  @EnumSource
  void topicsOfSameNameInTwoScopesAreIndependent(SubscriberKind kind) {
    try (var otherScope = scope.openScope("other")) {
      Topic<Object> otherTopic = Topic.open(otherScope.named("topic"));
      subscribe(kind, topic, m -> received.add("first " + m));
      subscribe(kind, otherTopic, m -> received.add("second " + m));

      topic.publish(1);

      assertReceived("first 1");
    }
  }

  @ParameterizedTest
  @EnumSource
  void closedSubscriptionEndsNoOtherSubscription(SubscriberKind kind) {
    var subscription = subscribe(kind, topic, m -> received.add("closed " + m));
    subscribe(kind, topic, m -> received.add("open " + m));

    subscription.close();
    topic.publish(1);

    assertReceived("open 1");
  }

  @ParameterizedTest
  @EnumSource
  void subscriberOfEachKindGetsMessages(SubscriberKind kind) {
    var subscription = subscribe(kind, topic, received::add);

    topic.publish(1);

    assertNotNull(subscription);
    assertReceived(1);
  }

  @ParameterizedTest
  @EnumSource
  void messagesReachOtherSubscribersWhenSubscriberFails(SubscriberKind kind) {
    try (var log = new Logged()) {
      subscribe(kind, topic, m -> {
        throw new IllegalStateException("no");
      });
      subscribe(kind, topic, m -> {
        throw new AssertionError("planned error");
      });
      subscribe(kind, topic, received::add);

      topic.publish(1);
      topic.publish(2);

      assertReceived(1, 2);
      // the subscribers of the other kinds have a failure policy that does not log
      boolean logs = kind == SubscriberKind.PUBLISHERS_THREAD || kind == SubscriberKind.THREAD_PER_MESSAGE;
      Patience.eventually(() -> log.text().contains("a subscriber failed at 2") == logs);
    }
  }

  @ParameterizedTest
  @EnumSource
  void newSubscriberIsNotLostDuringCloseOfOtherSubscriber(SubscriberKind kind) {
    for (int i = 0; i < 200; i++) {
      var oldSubscription = subscribe(kind, topic, m -> {});
      var closer = Patience.startFiber(oldSubscription::close);
      var subscription = subscribe(kind, topic, received::add);

      topic.publish(i);

      Patience.awaitEnd(closer);
      int times = i + 1;
      Patience.eventually(() -> received.size() == times);
      subscription.close();
    }
  }

  @ParameterizedTest
  @EnumSource
  void endedTopicLeavesNoActor(SubscriberKind kind) {
    for (int i = 0; i < 3; i++) subscribe(kind, topic, received::add);
    topic.publish(1);

    topic.close();

    Patience.eventually(() -> received.size() == 3);
    Patience.eventually(() -> !scope.dump().contains("topic"));
  }

  @Test
  void failedSubscriptionLeavesNoActor() {
    Topic<Object> topicWithoutThreads = Topic.open(scope.named("threadless").strategy(new Strategy() {
      @Override
      public void activate(Runnable activation) {
        throw new IllegalStateException("no thread");
      }

      @Override
      public boolean isResident() {
        return true;
      }
    }));

    assertThrows(IllegalStateException.class, () -> topicWithoutThreads.subscribeToLatest(received::add));
    topicWithoutThreads.publish(1);

    topicWithoutThreads.close();
    Patience.eventually(() -> !scope.dump().contains("threadless"));
  }

  @Test
  void comparatorFailureIsLoggedAndOtherSubscribersGetMessage() {
    try (var log = new Logged()) {
      topic.subscribe(Mailbox.<Object>priority((a, b) -> {
        throw new ClassCastException("cannot compare " + a);
      }), m -> new Gate().pass());
      topic.subscribeToLatest(received::add);

      for (int i = 1; i <= 3; i++) topic.publish(i);

      assertReceived(1, 2, 3);
      assertTrue(log.text().contains("did not take 3") && log.text().contains("cannot compare"), log::text);
    }
  }

  @Test
  void subscriberRunsOnPoolWhenBuilderOfTopicIsPool() {
    Topic<Object> poolTopic = Topic.open(Pools.fixed(scope.named("pools"), 2));
    var gate = new Gate();
    poolTopic.subscribeToLatest(m -> {
      if (m.equals(1)) gate.pass();
      received.add(m);
    });

    poolTopic.publish(1);
    poolTopic.publish(2);
    Patience.eventually(() -> received.equals(List.of(2)));
    gate.open();
    poolTopic.close();
    poolTopic.publish("late");

    assertEquals(List.of(2, 1), received);
    assertEquals("late", scope.deadLetters().getFirst().message());
  }
}
