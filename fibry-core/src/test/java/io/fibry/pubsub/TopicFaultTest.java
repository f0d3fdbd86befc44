package io.fibry.pubsub;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.FailurePolicy;
import io.fibry.Gate;
import io.fibry.Handler;
import io.fibry.Strategy;
import io.fibry.mailbox.Mailbox;
import io.fibry.pool.Pools;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Known faults of pub/sub, with each kind of subscriber. */
class TopicFaultTest {
  private final ActorScope scope = ActorSystem.openScope("test");
  private final Actor<Object> shared =
      scope.named("shared").onFailure(FailurePolicy.resume().withoutLog()).newActor((Object m) -> {});
  private final ExecutorService perMessage = Executors.newVirtualThreadPerTaskExecutor();
  private final Topic<Object> topic = Topic.open(scope.named("topic").onFailure(FailurePolicy.resume().withoutLog()));
  private final List<Object> seen = new CopyOnWriteArrayList<>();

  enum Way { PUBLISHERS_THREAD, SHARED_ACTOR, ACTOR_OF_THE_TOPIC, ACTOR_PER_SUBSCRIBER, THREAD_PER_MESSAGE }

  private Subscription subscribe(Way way, Topic<Object> topic, Handler<Object> handler) {
    return switch (way) {
      case PUBLISHERS_THREAD -> topic.subscribeOn(Runnable::run, handler);
      case SHARED_ACTOR -> topic.subscribeOn(shared, handler);
      case ACTOR_OF_THE_TOPIC -> topic
          .subscribe(scope.anonymous().onFailure(FailurePolicy.resume().withoutLog()).newActor(handler));
      case ACTOR_PER_SUBSCRIBER -> topic.subscribeToLatest(handler);
      case THREAD_PER_MESSAGE -> topic.subscribeOn(perMessage, handler);
    };
  }

  private void told(Object... all) {
    Patience.eventually(() -> seen.size() >= all.length);
    assertTrue(scope.awaitQuiescence(Patience.LONG));
    assertEquals(List.of(all), seen.stream().sorted().toList());
  }

  @AfterEach
  void cleanUp() {
    Gate.openAll();
    perMessage.close();
    scope.closeWithin(Patience.LONG);
  }

  @ParameterizedTest
  @EnumSource
  void topicsAreIndependent(Way way) {
    try (var other = scope.openScope("other")) {
      Topic<Object> namesake = Topic.open(other.named("topic"));
      subscribe(way, topic, m -> seen.add("first " + m));
      subscribe(way, namesake, m -> seen.add("second " + m));

      topic.publish(1);

      told("first 1");
    }
  }

  @ParameterizedTest
  @EnumSource
  void leavingSubscriberTakesNoOneAlong(Way way) {
    var leaving = subscribe(way, topic, m -> seen.add("left " + m));
    subscribe(way, topic, m -> seen.add("stayed " + m));

    leaving.close();
    topic.publish(1);

    told("stayed 1");
  }

  @ParameterizedTest
  @EnumSource
  void firstSubscriberGetsMessages(Way way) {
    var subscription = subscribe(way, topic, seen::add);

    topic.publish(1);

    assertNotNull(subscription);
    told(1);
  }

  @ParameterizedTest
  @EnumSource
  void aFailingSubscriberStopsNobodyAndDoesNotHitThePublisher(Way way) {
    try (var log = new Logged()) {
      subscribe(way, topic, m -> {
        throw new IllegalStateException("no");
      });
      subscribe(way, topic, m -> {
        throw new AssertionError("nor an error");
      });
      subscribe(way, topic, seen::add);

      topic.publish(1);
      topic.publish(2);

      told(1, 2);
      // the others have a policy that does not log
      boolean logs = way == Way.PUBLISHERS_THREAD || way == Way.THREAD_PER_MESSAGE;
      Patience.eventually(() -> log.text().contains("a subscriber failed at 2") == logs);
    }
  }

  @ParameterizedTest
  @EnumSource
  void subscriberThatReturnsWhileOthersLeaveIsNotLost(Way way) {
    for (int i = 0; i < 200; i++) {
      var before = subscribe(way, topic, m -> {});
      var leaving = Patience.startFiber(before::close);
      var subscription = subscribe(way, topic, seen::add);

      topic.publish(i);

      Patience.joined(leaving);
      int times = i + 1;
      Patience.eventually(() -> seen.size() == times);
      subscription.close();
    }
  }

  @ParameterizedTest
  @EnumSource
  void nothingOfATopicThatEndedIsLeft(Way way) {
    for (int i = 0; i < 3; i++) subscribe(way, topic, seen::add);
    topic.publish(1);

    topic.close();

    Patience.eventually(() -> seen.size() == 3);
    Patience.eventually(() -> !scope.dump().contains("topic"));
  }

  @Test
  void aSubscriberThatCannotBeMadeLeavesNothing() {
    Topic<Object> threadless = Topic.open(scope.named("threadless").strategy(new Strategy() {
      @Override
      public void activate(Runnable activation) {
        throw new IllegalStateException("no thread");
      }

      @Override
      public boolean isResident() {
        return true;
      }
    }));

    assertThrows(IllegalStateException.class, () -> threadless.subscribeToLatest(seen::add));
    threadless.publish(1);

    threadless.close();
    Patience.eventually(() -> !scope.dump().contains("threadless"));
  }

  @Test
  void aMessageThatAMailboxCannotOrderIsLoggedAndHarmsNobody() {
    try (var log = new Logged()) {
      topic.subscribe(Mailbox.<Object>priority((a, b) -> {
        throw new ClassCastException("cannot compare " + a);
      }), m -> new Gate().pass());
      topic.subscribeToLatest(seen::add);

      for (int i = 1; i <= 3; i++) topic.publish(i);

      told(1, 2, 3);
      assertTrue(log.text().contains("did not take 3") && log.text().contains("cannot compare"), log::text);
    }
  }

  @Test
  void theActorOfASubscriberMayBeAPool() {
    Topic<Object> pools = Topic.open(Pools.fixed(scope.named("pools"), 2));
    var gate = new Gate();
    pools.subscribeToLatest(m -> {
      if (m.equals(1)) gate.pass();
      seen.add(m);
    });

    pools.publish(1);
    pools.publish(2);
    Patience.eventually(() -> seen.equals(List.of(2)));
    gate.open();
    pools.close();
    pools.publish("late");

    assertEquals(List.of(2, 1), seen);
    assertEquals("late", scope.deadLetters().getFirst().message());
  }
}
