package io.fibry.flow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Gate;
import io.fibry.Letters;
import io.fibry.Promise;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
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

/** The rules of Reactive Streams are tested in {@code fibry-proof}. */
class SubscriberTest {
  private final Letters letters = new Letters();
  private final ActorScope scope = ActorSystem.openScope("fed", o -> o.withDeadLetters(letters));
  private final List<Object> seen = new CopyOnWriteArrayList<>();
  private final List<Optional<Throwable>> ends = new CopyOnWriteArrayList<>();
  private final RecordingSubscription publisher = new RecordingSubscription();

  @AfterEach
  void nothingIsLeft() {
    Gate.openAll();
    Patience.eventually(() -> scope.dump().lines().count() == 1);
    scope.close();
  }

  private Actor<Object> actor(Mailbox<Object> mailbox) {
    return scope.anonymous().mailbox(mailbox).newActor((Object m) -> {
      if (m instanceof Gate gate) gate.pass();
      else seen.add(m);
    });
  }

  private Flow.Subscriber<Object> subscriber(Actor<Object> actor, int ahead) {
    Flow.Subscriber<Object> subscriber = Flows.subscriber(actor, ahead, ends::add);
    subscriber.onSubscribe(publisher);
    return subscriber;
  }

  @Test
  void subscriberRequestsMoreWhenMoreThanHalfIsHandled() {
    var actor = actor(Mailbox.unbounded());
    var subscriber = subscriber(actor, 8);
    var gate = new Gate();

    subscriber.onNext(gate);
    for (int i = 1; i < 8; i++) subscriber.onNext(i);
    var before = List.copyOf(publisher.told);
    gate.open();
    Patience.eventually(() -> publisher.requested() == 13);

    assertEquals(List.of(8L), before);
    assertEquals(List.of(8L, 5L), publisher.told);
    subscriber.onComplete();
  }

  @Promise("22.9")
  @Test
  void unhandledMessagesAreLimited() {
    for (int ahead : new int[] {1, 2, 3, 10}) {
      var unhandled = new AtomicInteger();
      var most = new AtomicInteger();
      var actor = scope.anonymous().newActor((Integer i) -> {
        unhandled.decrementAndGet();
      });
      Flow.Publisher<Integer> source = Flows.publisher(() -> IntStream.range(0, 2_000).iterator());
      var inner = Flows.<Integer>subscriber(actor, ahead);

      source.subscribe(new Flow.Subscriber<>() {
        @Override
        public void onSubscribe(Flow.Subscription subscription) {
          inner.onSubscribe(subscription);
        }

        @Override
        public void onNext(Integer i) {
          most.accumulateAndGet(unhandled.incrementAndGet(), Math::max);
          inner.onNext(i);
        }

        @Override
        public void onError(Throwable failure) {
          inner.onError(failure);
        }

        @Override
        public void onComplete() {
          inner.onComplete();
        }
      });
      Patience.ended(actor::waitForExit);

      assertTrue(most.get() <= ahead, most + " unhandled, " + ahead + " ahead");
      assertEquals(0, unhandled.get());
    }
  }

  @Test
  void theEndIsAPillBehindAllMessages() {
    var actor = actor(Mailbox.unbounded());
    var subscriber = subscriber(actor, 8);

    subscriber.onNext(1);
    subscriber.onNext(2);
    subscriber.onComplete();
    Patience.ended(actor::waitForExit);

    assertEquals(List.of(1, 2), seen);
    assertEquals(List.of(Optional.empty()), ends);
    assertEquals(List.of(8L), publisher.told);
  }

  @Test
  void aFailureIsToldAndTheActorEnds() {
    var failure = new IOException("cut");
    var actor = actor(Mailbox.unbounded());
    var subscriber = subscriber(actor, 8);

    subscriber.onNext(1);
    subscriber.onError(failure);
    Patience.ended(actor::waitForExit);

    assertEquals(List.of(1), seen);
    assertEquals(List.of(Optional.of(failure)), ends);
  }

  @Test
  void aFailureThatNobodyIsToldIsLogged() {
    try (var logged = new Logged()) {
      var actor = actor(Mailbox.unbounded());
      Flow.Subscriber<Object> subscriber = Flows.subscriber(actor, 8);
      subscriber.onSubscribe(publisher);

      subscriber.onError(new IOException("cut"));
      Patience.ended(actor::waitForExit);

      assertTrue(logged.text().contains("is cut off; the actor handles what waits, and ends")
          && logged.text().contains("java.io.IOException: cut"), logged::text);
    }
  }

  @Test
  void signalsAfterTheEndAreIgnored() {
    var actor = actor(Mailbox.unbounded());
    var subscriber = subscriber(actor, 8);
    subscriber.onComplete();

    subscriber.onNext(1);
    subscriber.onError(new IOException());
    subscriber.onComplete();
    Patience.ended(actor::waitForExit);

    assertEquals(List.of(), seen);
    assertEquals(1, ends.size());
    assertEquals(List.of(8L), publisher.told);
  }

  @Test
  void aSecondSubscriptionIsCancelled() {
    var second = new RecordingSubscription();
    var subscriber = subscriber(actor(Mailbox.unbounded()), 8);

    subscriber.onSubscribe(second);

    assertEquals(List.of("cancel"), second.told);
    assertEquals(List.of(8L), publisher.told);
    subscriber.onComplete();
  }

  @Test
  void anActorThatEndsFirstCancels() {
    var actor = actor(Mailbox.unbounded());
    subscriber(actor, 8);

    actor.askExit();
    Patience.eventually(() -> !ends.isEmpty());

    assertEquals(List.of(8L, "cancel"), publisher.told);
    var why = assertInstanceOf(CancellationException.class, ends.getFirst().orElseThrow());
    assertTrue(why.getMessage().endsWith("ended before its stream did: Stopped"), why::getMessage);
  }

  @Test
  void anActorThatHasEndedCancelsAtOnce() {
    var actor = actor(Mailbox.unbounded());
    actor.close();

    subscriber(actor, 8);

    assertEquals(List.of("cancel"), publisher.told);
    assertEquals(1, ends.size());
  }

  @Test
  void mailboxWithRoomForRequestedAndTwoMoreLosesNothing() {
    for (var overflow : Overflow.values()) {
      int ahead = 4;
      var actor = actor(Mailbox.bounded(ahead + 2, overflow));
      seen.clear();

      try (var source = new SubmissionPublisher<Integer>()) {
        source.subscribe(Flows.subscriber(actor, ahead));
        for (int i = 0; i < 1_000; i++) source.submit(i);
      }
      Patience.ended(actor::waitForExit);

      assertEquals(IntStream.range(0, 1_000).boxed().toList(), seen, () -> overflow + " lost some");
    }
    assertEquals(List.of(), letters.messages());
  }

  @Test
  void aMarkThatIsRefusedIsTriedAgainBehindTheNextMessage() {
    var actor = actor(Mailbox.bounded(3, Overflow.REJECT));
    var subscriber = subscriber(actor, 4);
    var gate = new Gate();

    subscriber.onNext(gate);
    Patience.await(gate.entered);
    actor.sendMessage("another one's");
    for (int i = 1; i <= 2; i++) subscriber.onNext(i); // no room for the mark
    gate.open();
    Patience.eventually(() -> seen.size() == 3);
    subscriber.onNext(3);
    Patience.eventually(() -> publisher.requested() == 8);

    assertEquals(List.of(), ends);
    subscriber.onComplete();
  }

  @Test
  void aMessageThatIsRefusedCancels() {
    var actor = actor(Mailbox.bounded(1, Overflow.REJECT));
    var subscriber = subscriber(actor, 8);
    var gate = new Gate();

    subscriber.onNext(gate);
    Patience.await(gate.entered);
    subscriber.onNext(1);
    subscriber.onNext(2);
    gate.open();
    Patience.ended(actor::waitForExit);

    assertEquals(List.of(8L, "cancel"), publisher.told);
    assertEquals(List.of(1), seen);
    assertEquals(List.of(2), letters.messages());
    var why = assertInstanceOf(RejectedExecutionException.class, ends.getFirst().orElseThrow());
    assertTrue(
        why.getMessage().endsWith("refused a message of its stream; give its mailbox room for 9 messages"),
        why::getMessage);
  }

  @Test
  void aMailboxThatDropsTheOldestDoesNotStopTheStream() {
    var actor = actor(Mailbox.bounded(1, Overflow.DROP_OLDEST));
    var gate = new Gate();
    try (var source = new SubmissionPublisher<Object>()) {
      source.subscribe(Flows.subscriber(actor, 4, ends::add));
      source.submit(gate);
      Patience.await(gate.entered);
      for (int i = 0; i < 3; i++) source.submit(i);
      gate.open();
      for (int i = 0; i < 1_000; i++) source.submit(i);
    }
    Patience.ended(actor::waitForExit);
    Patience.eventually(() -> !ends.isEmpty());

    assertEquals(List.of(Optional.empty()), ends);
  }
}
