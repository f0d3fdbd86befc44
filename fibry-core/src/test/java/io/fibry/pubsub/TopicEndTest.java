package io.fibry.pubsub;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.FailurePolicy;
import io.fibry.Strategy;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;

class TopicEndTest extends TopicFixture {
  private final Topic<Object> topic = Topic.open(scope.named("topic"));

  @Test
  void secondCloseOfTopicOrSubscriptionHasNoEffect() {
    var subscription = topic.subscribeToLatest(received::add);

    topic.close();
    topic.close();
    subscription.close();
    subscription.close();

    assertTrue(topic.waitForExit(Duration.ZERO));
  }

  @Test
  void waitForExitAwaitsBusySubscriberOfClosedSubscription() {
    var gate = new Gate();
    topic.subscribeToLatest(m -> gate.pass()).close();
    var subscription = topic.subscribeToLatest(m -> gate.pass());
    topic.publish(1);
    Patience.await(gate.entered);
    subscription.close();

    topic.sendPoisonPill();

    assertFalse(topic.waitForExit(Duration.ofMillis(20)));
    gate.open();
    Patience.awaitEnd(topic::waitForExit);
  }

  @Test
  void interruptedCloseIsCancelledAndTopicStillEnds() {
    var gate = new Gate();
    topic.subscribeToLatest(m -> gate.pass());
    topic.publish(1);
    Patience.await(gate.entered);
    var interrupted = new CompletableFuture<Boolean>();
    var closer = Patience.startFiber(() -> {
      assertThrows(CancellationException.class, topic::close);
      return Thread.currentThread().isInterrupted();
    }, interrupted);
    Patience.awaitParked(closer);

    closer.interrupt();

    assertTrue(Patience.value(interrupted));
    gate.open();
    Patience.awaitEnd(topic::waitForExit);
  }

  @Test
  void subscriberMayCloseScopeOfItsTopic() {
    var innerScope = scope.openScope("inner");
    Topic<Object> innerTopic = Topic.open(innerScope.named("below"));
    var report = new CompletableFuture<ActorScope.Report>();
    innerTopic.subscribeToLatest(m -> report.complete(innerScope.closeWithin(Patience.LONG)));
    try (var log = new Logged()) {

      innerTopic.publish(1);

      assertEquals(List.of(), Patience.value(report).deadLetters());
      Patience.awaitEnd(innerTopic::waitForExit);
      assertFalse(log.entriesAbout("below", "inner").contains("could not"), log::text);
    }
  }

  @Test
  void actorAskedBySubscriberMayCloseTopic() {
    var subscriberThread = new CompletableFuture<Thread>();
    var actor = scope.named("asked").newActorWithReturn((String m) -> {
      // before the subscriber is parked, close() may not see that the subscriber waits for this
      // actor
      Patience.awaitParked(Patience.value(subscriberThread));
      topic.close();
      return "closed";
    });
    topic.subscribeToLatest(m -> {
      subscriberThread.complete(Thread.currentThread());
      received.add(actor.ask("close the topic"));
    });
    try (var log = new Logged()) {

      topic.publish(1);
      Patience.awaitEnd(topic::waitForExit);

      assertTrue(scope.awaitQuiescence(Patience.LONG));
      assertEquals(List.of("closed"), received);
      assertFalse(log.entriesAbout("topic", "asked").contains("could not"), log::text);
    }
  }

  @Test
  void killedTopicWaitsForSlowSubscriberDuringKillGrace() {
    try (var patientScope = scope.openScope("patient", o -> o.withKillGrace(Patience.LONG))) {
      Topic<Object> slowTopic = Topic.open(patientScope.anonymous().onFailure(FailurePolicy.resume().withoutLog()));
      var gate = new Gate();
      slowTopic.subscribeToLatest(m -> gate.passUninterruptibly());
      slowTopic.publish(1);
      Patience.await(gate.entered);

      slowTopic.sendPoisonPill();
      assertFalse(slowTopic.waitForExit(Duration.ofMillis(20)));

      slowTopic.kill();

      assertFalse(slowTopic.waitForExit(Duration.ofMillis(20)));
      gate.open();
      Patience.awaitEnd(slowTopic::waitForExit);
    }
  }

  @Test
  void subscriberActorCreatedWhileTopicEndsIsEnded() {
    var topicToEnd = new CompletableFuture<Topic<Object>>();
    Topic<Object> endingTopic = Topic.open(scope.named("ending").strategy(new Strategy() {
      @Override
      public void activate(Runnable activation) {
        topicToEnd.join().askExit();
        Thread.ofVirtual().start(activation);
      }

      @Override
      public boolean isResident() {
        return true;
      }
    }));
    topicToEnd.complete(endingTopic);

    assertThrows(IllegalStateException.class, () -> endingTopic.subscribeToLatest(received::add));

    Patience.eventually(() -> !scope.dump().contains("ending"));
  }

  @Test
  void killEndsTopicAtOnceAfterPoisonPill() {
    var gate = new Gate();
    topic.subscribeToLatest(m -> gate.pass());
    topic.publish(1);
    Patience.await(gate.entered);
    topic.sendPoisonPill();

    topic.kill();
    Patience.awaitEnd(topic::waitForExit);

    // the thread of the topic's actor ends a little later than the topic
    Patience.eventually(() -> !scope.dump().contains("topic"));
  }

  @Test
  void topicCanCloseOnExecutorWithOneThread() {
    try (var executor = Executors.newSingleThreadExecutor()) {
      Topic<Object> topicOnExecutor = Topic.open(scope.named("single").strategy(Strategy.of(executor)));
      topicOnExecutor.subscribeToLatest(received::add);
      topicOnExecutor.subscribeToLatest(received::add);
      topicOnExecutor.publish(1);

      topicOnExecutor.close();

      assertEquals(List.of(1, 1), received);
    }
  }

  @Test
  void endedTopicLeavesNoPlatformThreads() {
    Topic<Object> platformTopic = Topic.open(scope.named("platform").strategy(Strategy.THREAD));
    platformTopic.subscribeToLatest(received::add);
    platformTopic.subscribeToLatest(received::add).close();

    platformTopic.close();

    Patience.eventually(() -> Thread.getAllStackTraces().keySet().stream()
        .noneMatch(thread -> thread.getName().startsWith("platform/")));
  }

  @Test
  void resourceThatFailsToCloseIsLoggedByName() {
    try (var log = new Logged()) {
      topic.closeOnExit(new AutoCloseable() {
        @Override
        public void close() {
          throw new IllegalStateException("stuck");
        }

        @Override
        public String toString() {
          return "the door";
        }
      });

      topic.close();

      assertTrue(log.text().contains("could not close the door"), log::text);
    }
  }

  @Test
  void closeOnExitOfEndedTopicRunsAtOnce() {
    topic.close();

    topic.closeOnExit(() -> received.add("closed"));

    assertEquals(List.of("closed"), received);
  }
}
