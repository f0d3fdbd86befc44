package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.FailurePolicy;
import io.fibry.Request;
import io.fibry.RequestOutcome;
import io.fibry.durable.Desk.Add;
import io.fibry.durable.Desk.Items;
import io.fibry.durable.Desk.Message;
import io.fibry.store.Store;
import io.fibry.support.Patience;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Tests how an operator retries or discards parked messages, with every store. */
abstract class ParkedMessagesContract extends DeskFixture {
  private static final Store.ActorId ADA = new Store.ActorId("shop", "ada");

  private final List<String> charged = new CopyOnWriteArrayList<>();
  private volatile boolean handlerFails = true;

  ParkedMessagesContract(TestStores.Maker maker) {
    super(maker);
  }

  /** Returns a kind whose handler runs a step for each item, and then throws if handlerFails. */
  private Durable<Message> shop() {
    return Durable.kind("shop", Message.class).storeMessages(100).state(Desk.EMPTY)
        .handler((state, message, context) -> {
          if (!(message instanceof Add add)) return desk.handle(state, message, context);
          context.step("charge", String.class, () -> {
            charged.add(context.idempotencyKey("charge"));
            return "receipt";
          });
          if (handlerFails) throw new IllegalStateException("broken");
          return state.with(add.item());
        });
  }

  private Actor<Message> newAda() {
    return shop().newActor(scope.named("ada"), store);
  }

  private ParkedMessage<Message> awaitParked() {
    var parkedMessages = new ArrayList<ParkedMessage<Message>>();
    eventually(() -> parkedMessages.addAll(shop().parked(store)));
    return parkedMessages.getFirst();
  }

  private boolean isNothingPending() {
    return store.pending(ADA, Instant.MAX, 9).isEmpty();
  }

  @Test
  void retriedMessageIsHandledOnceWithoutRepeatingItsSteps() throws IOException {
    var firstActor = newAda();
    firstActor.sendMessage(new Add("a"));
    var firstParked = awaitParked();
    crashAndReopen(firstActor);
    var ada = newAda();

    shop().retry(store, firstParked);
    var parkedAgain = awaitParked(); // the retried message has failed again
    handlerFails = false;
    shop().retry(store, parkedAgain);

    eventually(() -> has(ada, "a"));
    assertEquals(firstParked.id(), parkedAgain.id());
    assertEquals(1, charged.size());
    assertTrue(isNothingPending());
    assertEquals(List.of(), shop().parked(store));
  }

  @Test
  void retriedReminderKeepsItsStepsDespiteNextOccurrence() {
    var ada = newAda();
    ada.sendMessage(new Desk.Remind("r", "a", HOUR, true));
    ada.ask(new Items());
    clock.advance(HOUR.plusMinutes(1));
    var parked = awaitParked();
    handlerFails = false;
    clock.advance(HOUR);
    eventually(() -> has(ada, "a"));

    shop().retry(store, parked);

    eventually(() -> has(ada, "a a"));
    assertEquals(2, charged.size());
    assertEquals(2, Set.copyOf(charged).size());
    assertEquals(1, store.pending(ADA, Instant.MAX, 9).size()); // the next occurrence of the reminder
  }

  @Test
  void retriedMessageWaitsUntilItsActorIsCreated() throws IOException {
    var firstActor = newAda();
    firstActor.sendMessage(new Add("a"));
    var parked = awaitParked();
    crashAndReopen(firstActor);
    handlerFails = false;

    shop().retry(store, parked);

    assertEquals(List.of(), shop().parked(store));
    var ada = newAda();
    eventually(() -> has(ada, "a"));
  }

  @Test
  void discardedMessageIsNeverHandled() throws IOException {
    var firstActor = newAda();
    firstActor.sendMessage(new Add("a"));
    var parked = awaitParked();
    crashAndReopen(firstActor);
    handlerFails = false;

    shop().discard(store, parked);

    assertEquals(List.of(), shop().parked(store));
    var ada = newAda();
    eventually(this::isNothingPending);
    ada.sendMessage(new Add("b"));
    eventually(() -> has(ada, "b"));
  }

  @Test
  void retriedMessageIsHandledAfterPendingMessages() {
    var ada = newAda();
    ada.sendMessage(new Add("a"));
    var parked = awaitParked();
    var gate = hold(ada);
    handlerFails = false;
    ada.sendMessage(new Add("b"));

    shop().retry(store, parked);
    gate.countDown();

    eventually(() -> has(ada, "b a"));
  }

  @Test
  void retryOfMessageNoLongerParkedIsRefused() {
    var ada = newAda();
    ada.sendMessage(new Add("a"));
    var parked = awaitParked();
    handlerFails = false;
    shop().retry(store, parked);
    eventually(() -> has(ada, "a"));

    var failure = assertThrows(IllegalStateException.class, () -> shop().retry(store, parked));
    assertThrows(IllegalStateException.class, () -> shop().discard(store, parked));

    assertEquals(
        "'" + parked.id() + "' of shop 'ada' is no longer parked at " + store + ": it was retried, or removed",
        failure.getMessage());
    assertTrue(isNothingPending());
    assertTrue(has(ada, "a"));
  }

  // ---- more parked messages than the two other messages whose steps the actor remembers

  sealed interface Bill {}

  record Plain(String name) implements Bill {}

  record Sent(String idempotencyKey) implements Bill, Idempotent {}

  private final AtomicBoolean cancelNext = new AtomicBoolean();

  private Durable<Bill> till() {
    return Durable.kind("till", Bill.class).storeMessages(1).deduplicate(1, Duration.ofDays(1)).state(0)
        .handler((state, bill, context) -> {
          context.step("charge", String.class, () -> {
            charged.add(bill.toString());
            return "receipt";
          });
          if (cancelNext.getAndSet(false)) throw new CancellationException("planned: the message is handled again");
          if (handlerFails) throw new IllegalStateException("broken");
          return state + 1;
        });
  }

  private void parkAll(List<Bill> bills) throws IOException {
    var firstActor = till().newActor(scope.named("ada"), store);
    sendAll(firstActor, bills);
    eventually(() -> till().parked(store).size() == bills.size());
    crashAndReopen(firstActor);
  }

  /** Sends messages to an actor that stores one at a time. */
  private void sendAll(Actor<Bill> till, List<Bill> bills) {
    for (var bill : bills) eventually(() -> till.sendMessage(bill));
  }

  @Test
  void stepResultsOfAllParkedMessagesSurviveCrash() throws IOException {
    var bills = List.<Bill>of(new Sent("a"), new Sent("b"), new Plain("c"), new Sent("d"), new Sent("e"));
    parkAll(bills);
    handlerFails = false;
    till().newActor(scope.named("ada"), store);
    for (var parked : till().parked(store)) till().retry(store, parked);

    eventually(() -> store.pending(new Store.ActorId("till", "ada"), Instant.MAX, 9).isEmpty());
    assertEquals(bills.stream().map(Object::toString).toList(), charged);
  }

  @Test
  void stepOfPendingMessageIsRetainedBesideParkedMessages() throws IOException {
    parkAll(List.of(new Plain("a"), new Plain("b"), new Sent("c")));
    handlerFails = false;
    cancelNext.set(true);
    var ada = till().newActor(scope.named("ada"), store);

    ada.sendMessage(new Sent("d"));

    eventually(() -> store.pending(new Store.ActorId("till", "ada"), store.clock().instant(), 9).isEmpty());
    assertEquals(1, Collections.frequency(charged, "Sent[idempotencyKey=d]"));
  }

  @Test
  void fullStateTurnsRetainStepsOfParkedMessages() throws IOException {
    var bills = List.<Bill>of(new Sent("a"), new Sent("b"), new Sent("c"), new Sent("d"));
    parkAll(bills);
    handlerFails = false;
    var otherBills = IntStream.range(0, 20).<Bill>mapToObj(i -> new Plain("other " + i)).toList();
    var secondActor = till().newActor(scope.named("ada"), store);
    sendAll(secondActor, otherBills); // some of their turns are full states
    eventually(() -> store.pending(new Store.ActorId("till", "ada"), store.clock().instant(), 9).isEmpty());
    crashAndReopen(secondActor);

    till().newActor(scope.named("ada"), store);
    for (var parked : till().parked(store)) till().retry(store, parked);

    eventually(() -> store.pending(new Store.ActorId("till", "ada"), Instant.MAX, 9).isEmpty());
    assertEquals(Stream.concat(bills.stream(), otherBills.stream()).map(Object::toString).toList(), charged);
  }

  @Test
  void stepIsNotRunAgainWhenDiscardedMessageIsSentAgain() throws IOException {
    parkAll(List.of(new Sent("a")));
    handlerFails = false;
    till().discard(store, till().parked(store).getFirst());
    var ada = till().newActor(scope.named("ada"), store);
    eventually(() -> store.pending(new Store.ActorId("till", "ada"), Instant.MAX, 9).isEmpty());

    ada.sendMessage(new Sent("a"));

    eventually(() -> store.pending(new Store.ActorId("till", "ada"), Instant.MAX, 9).isEmpty());
    assertEquals(List.of("Sent[idempotencyKey=a]"), charged);
  }

  // ---- more waiting requests than the two handled messages that the actor remembers

  record Charge(String idempotencyKey) implements Idempotent, Request<Charge, Integer> {}

  static final class Older {
    record Total(int charges) {}
  }

  static final class Newer {
    record Total(int charges, Optional<String> note) {}
  }

  private <S> Durable<Charge> charging(S initial, UnaryOperator<S> add) {
    return Durable.kind("till", Charge.class).storeMessages(10).deduplicate(2, Duration.ofDays(1)).state(initial)
        .handler((state, charge, context) -> {
          context.reply(charge, context.step("charge", Integer.class, () -> {
            charged.add(charge.idempotencyKey());
            return charged.size();
          }));
          return add.apply(state);
        });
  }

  private static Newer.Total addWithNote(Newer.Total total) {
    return new Newer.Total(total.charges() + 1, Optional.of("note"));
  }

  @Test
  void refusedRequestsKeepStepsForNextActor() {
    var newerKind = charging(new Newer.Total(0, Optional.empty()), ParkedMessagesContract::addWithNote);
    var firstActor = newerKind.newActor(scope.named("ada"), store);
    firstActor.ask(new Charge("a"));
    firstActor.close();
    Patience.awaitEnd(firstActor::waitForExit);

    var olderActor = charging(new Older.Total(0), (Older.Total total) -> new Older.Total(total.charges() + 1))
        .newActor(scope.named("ada").onFailure(FailurePolicy.resume()), store);
    for (var key : List.of("b", "c", "d", "e", "f")) { // refused, because their turns would erase the note
      var refusal = assertThrows(StorageFailedException.class, () -> olderActor.ask(new Charge(key)));
      assertEquals(RequestOutcome.WILL_BE_DONE, refusal.outcome());
    }
    olderActor.kill(); // close() would wait for the requests
    Patience.awaitEnd(olderActor::waitForExit);
    newerKind.newActor(scope.named("ada"), store);

    eventually(() -> store.pending(new Store.ActorId("till", "ada"), Instant.MAX, 9).isEmpty());
    assertEquals(List.of("a", "b", "c", "d", "e", "f"), charged);
  }
}
