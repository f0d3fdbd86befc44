package io.fibry.flow;

import static io.fibry.flow.NullAssertion.assertNullRefused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Strategy;
import io.fibry.engine.scope.Scopes;
import io.fibry.mailbox.Mailbox;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.LeakProbe;
import java.lang.ref.WeakReference;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Tests subscribers whose publisher breaks the rules or throws, and subscribers whose callback
 * throws.
 */
class SubscriberFaultTest {
  private final ActorScope scope = ActorSystem.openScope("fed");
  private final List<Object> received = new CopyOnWriteArrayList<>();
  private final List<Optional<Throwable>> ends = new CopyOnWriteArrayList<>();
  private final RecordingSubscription publisher = new RecordingSubscription();

  @AfterEach
  void awaitActorsAndCloseScope() {
    Gate.openAll();
    Scopes.awaitNoActors(scope);
    scope.close();
  }

  private Actor<Object> actor(Mailbox<Object> mailbox) {
    return scope.anonymous().mailbox(mailbox).newActor((Object m) -> {
      if (m instanceof Gate gate) gate.pass();
      else received.add(m);
    });
  }

  private Flow.Subscriber<Object> subscriber(Actor<Object> actor, int bufferSize) {
    Flow.Subscriber<Object> subscriber = FlowBridges.subscriber(actor, bufferSize, ends::add);
    subscriber.onSubscribe(publisher);
    return subscriber;
  }

  @Test
  void publisherThatSendsInsideRequestDoesNotOverflowStack() {
    for (var strategy : List.of(Strategy.FIBER, Strategy.CALLER)) {
      var count = new AtomicInteger();
      var actor = scope.anonymous().strategy(strategy).newActor((Integer i) -> {
        count.incrementAndGet();
      });
      Flow.Subscriber<Integer> subscriber = FlowBridges.subscriber(actor, 1);

      subscriber.onSubscribe(new Flow.Subscription() {
        private int next;

        @Override
        public void request(long n) {
          for (; n > 0 && next < 100_000; n--) subscriber.onNext(next++);
          if (n > 0) subscriber.onComplete();
        }

        @Override
        public void cancel() {}
      });
      Patience.progress(count::get, () -> actor.onExit().isDone());

      assertEquals(100_000, count.get());
    }
  }

  @Test
  void endedActorCancelsSubscriptionAfterRequestInProgress() {
    var actor = actor(Mailbox.unbounded());
    var gate = new Gate();
    var calls = new CopyOnWriteArrayList<String>();
    Flow.Subscriber<Object> subscriber = FlowBridges.subscriber(actor, 4, ends::add);
    var subscribingThread = Patience.startFiber(() -> subscriber.onSubscribe(new Flow.Subscription() {
      @Override
      public void request(long n) {
        gate.passUninterruptibly();
        calls.add("request");
      }

      @Override
      public void cancel() {
        calls.add("cancel");
      }
    }));
    Patience.await(gate.entered);

    actor.askExit();
    Patience.eventually(() -> !ends.isEmpty());
    gate.open();
    Patience.awaitEnd(subscribingThread);

    assertEquals(List.of("request", "cancel"), calls);
  }

  @Test
  void publisherThatThrowsEndsStream() {
    var actor = actor(Mailbox.unbounded());
    Flow.Subscriber<Object> subscriber = FlowBridges.subscriber(actor, 4, ends::add);

    try (var logged = new Logged()) {
      subscriber.onSubscribe(new Flow.Subscription() {
        @Override
        public void request(long n) {
          throw new IllegalStateException("request");
        }

        @Override
        public void cancel() {
          throw new IllegalStateException("cancel");
        }
      });
      Patience.awaitEnd(actor::waitForExit);

      assertEquals("request", ends.getFirst().orElseThrow().getMessage());
      assertTrue(logged.text().contains("IllegalStateException: cancel"), logged::text);
    }
  }

  @Test
  void failureOfEndCallbackIsLogged() {
    try (var logged = new Logged()) {
      var actor = actor(Mailbox.unbounded());
      Flow.Subscriber<Object> subscriber = FlowBridges.subscriber(actor, 4, end -> {
        throw new IllegalStateException("planned");
      });

      subscriber.onSubscribe(publisher);
      subscriber.onComplete();
      Patience.awaitEnd(actor::waitForExit);

      assertTrue(logged.text().contains("the callback for the end of the stream of actor"), logged::text);
    }
  }

  @Test
  void invalidSubscriberArgumentsAreRefused() {
    var actor = actor(Mailbox.unbounded());
    var subscriber = subscriber(actor, 1);

    var refusal = assertThrows(IllegalArgumentException.class, () -> FlowBridges.subscriber(actor, 0));

    assertEquals("an actor with at most 0 unhandled messages never gets one; give at least 1", refusal.getMessage());
    assertNullRefused("actor", () -> FlowBridges.subscriber(null, 1));
    assertNullRefused("end", () -> FlowBridges.subscriber(actor, 1, null));
    assertNullRefused("subscription", () -> subscriber.onSubscribe(null));
    assertNullRefused("message", () -> subscriber.onNext(null));
    assertNullRefused("failure", () -> subscriber.onError(null));
    subscriber.onComplete();
  }

  @Test
  void endedStreamKeepsNoReferenceToSubscription() {
    var actor = actor(Mailbox.unbounded());
    Flow.Subscriber<Object> subscriber = FlowBridges.subscriber(actor, 4);
    Flow.Subscription subscription = new RecordingSubscription();
    var reference = new WeakReference<>(subscription);
    subscriber.onSubscribe(subscription);
    subscription = null;

    subscriber.onComplete();

    assertTrue(LeakProbe.collected(reference));
    subscriber.onComplete();
  }
}
