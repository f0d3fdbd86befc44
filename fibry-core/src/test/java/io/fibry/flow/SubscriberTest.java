package io.fibry.flow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.engine.scope.Scopes;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.testing.RecordedLetters;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Flow;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SubmissionPublisher;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests actors as subscribers; {@code fibry-proof} tests the rules of Reactive Streams. */
class SubscriberTest {
  private final RecordedLetters letters = new RecordedLetters();
  private final ActorScope scope = ActorSystem.openScope("fed", o -> o.withDeadLetterListener(letters));
  private final List<Object> received = new CopyOnWriteArrayList<>();
  private final List<Optional<Throwable>> ends = new CopyOnWriteArrayList<>();
  private final RecordingSubscription subscription = new RecordingSubscription();

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
    subscriber.onSubscribe(subscription);
    return subscriber;
  }

  @Test
  void subscriberRequestsElementsWhenOverHalfOfBufferIsHandled() {
    var actor = actor(Mailbox.unbounded());
    var subscriber = subscriber(actor, 8);
    var gate = new Gate();

    subscriber.onNext(gate);
    for (int i = 1; i < 8; i++) subscriber.onNext(i);
    var firstRequests = List.copyOf(subscription.calls);
    gate.open();
    Patience.eventually(() -> subscription.requestedCount() == 13);

    assertEquals(List.of(8L), firstRequests);
    assertEquals(List.of(8L, 5L), subscription.calls);
    subscriber.onComplete();
  }

  @Promise("22.9")
  @Test
  void unhandledMessagesAreLimitedToBufferSize() {
    for (int bufferSize : new int[] {1, 2, 3, 10}) {
      var unhandledCount = new AtomicInteger();
      var maxUnhandled = new AtomicInteger();
      var actor = scope.anonymous().newActor((Integer i) -> {
        unhandledCount.decrementAndGet();
      });
      Flow.Publisher<Integer> source = FlowBridges.publisher(() -> IntStream.range(0, 2_000).iterator());
      var subscriber = FlowBridges.<Integer>subscriber(actor, bufferSize);

      source.subscribe(new Flow.Subscriber<>() {
        @Override
        public void onSubscribe(Flow.Subscription subscription) {
          subscriber.onSubscribe(subscription);
        }

        @Override
        public void onNext(Integer i) {
          maxUnhandled.accumulateAndGet(unhandledCount.incrementAndGet(), Math::max);
          subscriber.onNext(i);
        }

        @Override
        public void onError(Throwable failure) {
          subscriber.onError(failure);
        }

        @Override
        public void onComplete() {
          subscriber.onComplete();
        }
      });
      Patience.awaitEnd(actor::waitForExit);

      assertTrue(maxUnhandled.get() <= bufferSize, maxUnhandled + " unhandled messages with a buffer of " + bufferSize);
      assertEquals(0, unhandledCount.get());
    }
  }

  @Test
  void endOfStreamEndsActorAfterAllMessages() {
    var actor = actor(Mailbox.unbounded());
    var subscriber = subscriber(actor, 8);

    subscriber.onNext(1);
    subscriber.onNext(2);
    subscriber.onComplete();
    Patience.awaitEnd(actor::waitForExit);

    assertEquals(List.of(1, 2), received);
    assertEquals(List.of(Optional.empty()), ends);
    assertEquals(List.of(8L), subscription.calls);
  }

  @Test
  void failureOfStreamReachesCallbackAndEndsActor() {
    var failure = new IOException("cut");
    var actor = actor(Mailbox.unbounded());
    var subscriber = subscriber(actor, 8);

    subscriber.onNext(1);
    subscriber.onError(failure);
    Patience.awaitEnd(actor::waitForExit);

    assertEquals(List.of(1), received);
    assertEquals(List.of(Optional.of(failure)), ends);
  }

  @Test
  void failureOfStreamWithoutCallbackIsLogged() {
    try (var logged = new Logged()) {
      var actor = actor(Mailbox.unbounded());
      Flow.Subscriber<Object> subscriber = FlowBridges.subscriber(actor, 8);
      subscriber.onSubscribe(subscription);

      subscriber.onError(new IOException("cut"));
      Patience.awaitEnd(actor::waitForExit);

      assertTrue(logged.text().contains("is cut off; the actor handles waiting messages, and ends")
          && logged.text().contains("java.io.IOException: cut"), logged::text);
    }
  }

  @Test
  void signalsAfterEndOfStreamAreIgnored() {
    var actor = actor(Mailbox.unbounded());
    var subscriber = subscriber(actor, 8);
    subscriber.onComplete();

    subscriber.onNext(1);
    subscriber.onError(new IOException());
    subscriber.onComplete();
    Patience.awaitEnd(actor::waitForExit);

    assertEquals(List.of(), received);
    assertEquals(1, ends.size());
    assertEquals(List.of(8L), subscription.calls);
  }

  @Test
  void secondSubscriptionIsCancelled() {
    var secondSubscription = new RecordingSubscription();
    var subscriber = subscriber(actor(Mailbox.unbounded()), 8);

    subscriber.onSubscribe(secondSubscription);

    assertEquals(List.of("cancel"), secondSubscription.calls);
    assertEquals(List.of(8L), subscription.calls);
    subscriber.onComplete();
  }

  @Test
  void actorThatEndsBeforeItsStreamCancelsSubscription() {
    var actor = actor(Mailbox.unbounded());
    subscriber(actor, 8);

    actor.askExit();
    Patience.eventually(() -> !ends.isEmpty());

    assertEquals(List.of(8L, "cancel"), subscription.calls);
    var cause = assertInstanceOf(CancellationException.class, ends.getFirst().orElseThrow());
    assertTrue(cause.getMessage().endsWith("ended before its stream did: Stopped"), cause::getMessage);
  }

  @Test
  void subscriptionOfEndedActorIsCancelledImmediately() {
    var actor = actor(Mailbox.unbounded());
    actor.close();

    subscriber(actor, 8);

    assertEquals(List.of("cancel"), subscription.calls);
    assertEquals(1, ends.size());
  }

  @Test
  void boundedMailboxOneLargerThanBufferLosesNoMessage() {
    for (var overflow : Overflow.values()) {
      int bufferSize = 4;
      var actor = actor(Mailbox.bounded(bufferSize + 1, overflow));
      received.clear();

      try (var source = new SubmissionPublisher<Integer>()) {
        source.subscribe(FlowBridges.subscriber(actor, bufferSize));
        for (int i = 0; i < 1_000; i++) source.submit(i);
      }
      Patience.awaitEnd(actor::waitForExit);

      assertEquals(IntStream.range(0, 1_000).boxed().toList(), received, () -> overflow + " lost messages");
    }
    assertEquals(List.of(), letters.messages());
  }

  @Test
  void fullMailboxDelaysRequestForElementsUntilNextElement() {
    var actor = actor(Mailbox.bounded(3, Overflow.REJECT));
    var subscriber = subscriber(actor, 4);
    var gate = new Gate();

    subscriber.onNext(gate);
    Patience.await(gate.entered);
    actor.sendMessage("from another sender");
    // the full mailbox refuses the mark, the task that requests more elements
    for (int i = 1; i <= 2; i++) subscriber.onNext(i);
    gate.open();
    Patience.eventually(() -> received.size() == 3);
    subscriber.onNext(3);
    Patience.eventually(() -> subscription.requestedCount() == 8);

    assertEquals(List.of(), ends);
    subscriber.onComplete();
  }

  @Test
  void messageRefusedByMailboxCancelsSubscription() {
    var actor = actor(Mailbox.bounded(1, Overflow.REJECT));
    var subscriber = subscriber(actor, 8);
    var gate = new Gate();

    subscriber.onNext(gate);
    Patience.await(gate.entered);
    subscriber.onNext(1);
    subscriber.onNext(2);
    gate.open();
    Patience.awaitEnd(actor::waitForExit);

    assertEquals(List.of(8L, "cancel"), subscription.calls);
    assertEquals(List.of(1), received);
    assertEquals(List.of(2), letters.messages());
    var cause = assertInstanceOf(RejectedExecutionException.class, ends.getFirst().orElseThrow());
    assertTrue(
        cause.getMessage().endsWith("refused a message of its stream; give its mailbox capacity for 9 messages"),
        cause::getMessage);
  }

  @Test
  void mailboxThatDropsOldestDoesNotStopTheStream() {
    var actor = actor(Mailbox.bounded(1, Overflow.DROP_OLDEST));
    var gate = new Gate();
    try (var source = new SubmissionPublisher<Object>()) {
      source.subscribe(FlowBridges.subscriber(actor, 4, ends::add));
      source.submit(gate);
      Patience.await(gate.entered);
      for (int i = 0; i < 3; i++) source.submit(i);
      gate.open();
      for (int i = 0; i < 1_000; i++) source.submit(i);
    }
    Patience.awaitEnd(actor::waitForExit);
    Patience.eventually(() -> !ends.isEmpty());

    assertEquals(List.of(Optional.empty()), ends);
  }
}
