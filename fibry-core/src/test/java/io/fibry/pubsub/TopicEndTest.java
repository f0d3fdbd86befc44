package io.fibry.pubsub;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.AskCycleException;
import io.fibry.FailurePolicy;
import io.fibry.Gate;
import io.fibry.Letters;
import io.fibry.Strategy;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class TopicEndTest {
  private final Letters letters = new Letters();
  private final ActorScope scope =
      ActorSystem.openScope("test", o -> o.withDeadLetters(letters).withKillGrace(Duration.ofMillis(50)));
  private final Topic<Object> topic = Topic.open(scope.named("topic"));
  private final List<Object> seen = new CopyOnWriteArrayList<>();

  @AfterEach
  void cleanUp() {
    Gate.openAll();
    scope.closeWithin(Patience.LONG);
  }

  @Test
  void closingTwiceIsClosingOnce() {
    var subscription = topic.subscribeToLatest(seen::add);

    topic.close();
    topic.close();
    subscription.close();
    subscription.close();

    assertTrue(topic.waitForExit(Duration.ZERO));
  }

  @Test
  void waitForExitAlsoAwaitsClosedSubscriber() {
    var gate = new Gate();
    topic.subscribeToLatest(m -> gate.pass()).close();
    var subscription = topic.subscribeToLatest(m -> gate.pass());
    topic.publish(1);
    Patience.await(gate.entered);
    subscription.close();

    topic.sendPoisonPill();

    assertFalse(topic.waitForExit(Duration.ofMillis(20)));
    gate.open();
    Patience.ended(topic::waitForExit);
  }

  @Test
  void interruptedCloseIsCancellationAndTopicStillEnds() {
    var gate = new Gate();
    topic.subscribeToLatest(m -> gate.pass());
    topic.publish(1);
    Patience.await(gate.entered);
    var failure = new CompletableFuture<Boolean>();
    var closer = Patience.startFiber(() -> {
      assertThrows(CancellationException.class, topic::close);
      failure.complete(Thread.currentThread().isInterrupted());
    });
    Patience.parked(closer);

    closer.interrupt();

    assertTrue(Patience.value(failure));
    gate.open();
    Patience.ended(topic::waitForExit);
  }

  @Test
  void aSubscriberMayCloseTheScopeOfItsTopic() {
    var inner = scope.openScope("inner");
    Topic<Object> below = Topic.open(inner.named("below"));
    var report = new CompletableFuture<ActorScope.Report>();
    below.subscribeToLatest(m -> report.complete(inner.closeWithin(Patience.LONG)));
    try (var log = new Logged()) {

      below.publish(1);

      assertEquals(List.of(), Patience.value(report).undelivered());
      Patience.ended(below::waitForExit);
      assertFalse(log.text().contains("could not"), log::text);
    }
  }

  @Test
  void actorAskedBySubscriberMayCloseTopic() {
    var told = new CopyOnWriteArrayList<>();
    var asked = scope.named("asked").newActorWithReturn((String m) -> {
      try {
        topic.close();
      } catch (AskCycleException ring) {
        told.add(ring);
      }
      return "closed";
    });
    topic.subscribeToLatest(m -> {
      try {
        asked.ask("close it");
      } catch (AskCycleException ring) {
        told.add(ring);
      }
    });
    try (var log = new Logged()) {

      topic.publish(1);
      Patience.ended(topic::waitForExit);

      assertTrue(scope.awaitQuiescence(Patience.LONG));
      assertFalse(log.text().contains("could not"), log::text);
    }
  }

  @Test
  void aKillWaitsForASubscriberThatTakesItsTime() {
    try (var patient = scope.openScope("patient", o -> o.withKillGrace(Patience.LONG))) {
      Topic<Object> slow = Topic.open(patient.anonymous().onFailure(FailurePolicy.resume().withoutLog()));
      var gate = new Gate();
      slow.subscribeToLatest(m -> gate.passDeaf());
      slow.publish(1);
      Patience.await(gate.entered);

      slow.sendPoisonPill();
      assertFalse(slow.waitForExit(Duration.ofMillis(20)));

      slow.kill();

      assertFalse(slow.waitForExit(Duration.ofMillis(20)));
      gate.open();
      Patience.ended(slow::waitForExit);
    }
  }

  @Test
  void anActorMadeWhileTheTopicEndsEndsWithIt() {
    var ends = new CompletableFuture<Topic<Object>>();
    Topic<Object> ending = Topic.open(scope.named("ending").strategy(new Strategy() {
      @Override
      public void activate(Runnable activation) {
        ends.join().askExit();
        Thread.ofVirtual().start(activation);
      }

      @Override
      public boolean isResident() {
        return true;
      }
    }));
    ends.complete(ending);

    assertThrows(IllegalStateException.class, () -> ending.subscribeToLatest(seen::add));

    Patience.eventually(() -> !scope.dump().contains("ending"));
  }

  @Test
  void topicKilledWhileEndingEndsAtOnce() {
    var gate = new Gate();
    topic.subscribeToLatest(m -> gate.pass());
    topic.publish(1);
    Patience.await(gate.entered);
    topic.sendPoisonPill();

    topic.kill();
    Patience.ended(topic::waitForExit);

    Patience.eventually(() -> !scope.dump().contains("topic")); // its thread leaves a little later
  }

  @Test
  void theOnlyThreadOfAnExecutorIsEnough() {
    try (var single = Executors.newSingleThreadExecutor()) {
      Topic<Object> one = Topic.open(scope.named("single").strategy(Strategy.of(single)));
      one.subscribeToLatest(seen::add);
      one.subscribeToLatest(seen::add);
      one.publish(1);

      one.close();

      assertEquals(List.of(1, 1), seen);
    }
  }

  @Test
  void endedTopicLeavesNoPlatformThreads() {
    Topic<Object> threads = Topic.open(scope.named("platform").strategy(Strategy.THREAD));
    threads.subscribeToLatest(seen::add);
    threads.subscribeToLatest(seen::add).close();

    threads.close();

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
  void closeOnExitAfterEndRunsAtOnce() {
    topic.close();

    topic.closeOnExit(() -> seen.add("closed"));

    assertEquals(List.of("closed"), seen);
  }
}
