package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.durable.Desk.Add;
import io.fibry.durable.Desk.Items;
import io.fibry.durable.Desk.Message;
import io.fibry.store.Store;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** The ways in which a human handles parked messages, at every store. */
abstract class ParkedMessagesContract extends DeskFixture {
  private static final Store.ActorId ADA = new Store.ActorId("shop", "ada");

  private final List<String> charged = new CopyOnWriteArrayList<>();
  private volatile boolean broken = true;

  ParkedMessagesContract(TestStores.Maker maker) {
    super(maker);
  }

  /** Charges for each item in a step, and then fails as long as it is broken. */
  private Durable<Message> shop() {
    return Durable.kind("shop", Message.class).storeMessages(100).state(Desk.EMPTY)
        .handler((state, message, context) -> {
          if (!(message instanceof Add add)) return desk.handle(state, message, context);
          context.step("charge", String.class, () -> {
            charged.add(context.idempotencyKey("charge"));
            return "receipt";
          });
          if (broken) throw new IllegalStateException("broken");
          return state.with(add.item());
        });
  }

  private Actor<Message> newAda() {
    return shop().newActor(scope.named("ada"), store);
  }

  private ParkedMessage<Message> awaitAside() {
    var found = new ArrayList<ParkedMessage<Message>>();
    eventually(() -> found.addAll(shop().parked(store)));
    return found.getFirst();
  }

  private boolean nothingWaits() {
    return store.pending(ADA, Instant.MAX, 9).isEmpty();
  }

  @Test
  void retriedMessageIsHandledOnceWithoutRepeatingItsSteps() throws IOException {
    var before = newAda();
    before.sendMessage(new Add("a"));
    var first = awaitAside();
    crashAndReopen(before);
    var ada = newAda();

    shop().retry(store, first);
    var second = awaitAside(); // it failed once more
    broken = false;
    shop().retry(store, second);

    eventually(() -> has(ada, "a"));
    assertEquals(first.id(), second.id());
    assertEquals(1, charged.size());
    assertTrue(nothingWaits());
    assertEquals(List.of(), shop().parked(store));
  }

  @Test
  void retriedReminderKeepsItsStepsDespiteNextOccurrence() {
    var ada = newAda();
    ada.sendMessage(new Desk.Remind("r", "a", HOUR, true));
    ada.ask(new Items());
    clock.advance(HOUR.plusMinutes(1));
    var aside = awaitAside();
    broken = false;
    clock.advance(HOUR);
    eventually(() -> has(ada, "a"));

    shop().retry(store, aside);

    eventually(() -> has(ada, "a a"));
    assertEquals(2, charged.size());
    assertEquals(2, Set.copyOf(charged).size());
    assertEquals(1, store.pending(ADA, Instant.MAX, 9).size()); // the next time
  }

  @Test
  void retriedMessageWaitsForItsActor() throws IOException {
    var before = newAda();
    before.sendMessage(new Add("a"));
    var aside = awaitAside();
    crashAndReopen(before);
    broken = false;

    shop().retry(store, aside);

    assertEquals(List.of(), shop().parked(store));
    var ada = newAda();
    eventually(() -> has(ada, "a"));
  }

  @Test
  void aMessageThatIsRemovedIsNeverHandled() throws IOException {
    var before = newAda();
    before.sendMessage(new Add("a"));
    var aside = awaitAside();
    crashAndReopen(before);
    broken = false;

    shop().discard(store, aside);

    assertEquals(List.of(), shop().parked(store));
    var ada = newAda();
    eventually(this::nothingWaits);
    ada.sendMessage(new Add("b"));
    eventually(() -> has(ada, "b"));
  }

  @Test
  void retriedMessageFollowsPendingMessages() {
    var ada = newAda();
    ada.sendMessage(new Add("a"));
    var aside = awaitAside();
    var held = hold(ada);
    broken = false;
    ada.sendMessage(new Add("b"));

    shop().retry(store, aside);
    held.countDown();

    eventually(() -> has(ada, "b a"));
  }

  @Test
  void retryOfMessageNoLongerParkedIsRefused() {
    var ada = newAda();
    ada.sendMessage(new Add("a"));
    var aside = awaitAside();
    broken = false;
    shop().retry(store, aside);
    eventually(() -> has(ada, "a"));

    var failure = assertThrows(IllegalStateException.class, () -> shop().retry(store, aside));
    assertThrows(IllegalStateException.class, () -> shop().discard(store, aside));

    assertEquals(
        "'" + aside.id() + "' of shop 'ada' is not aside any more at " + store + ": it was retried, or removed",
        failure.getMessage());
    assertTrue(nothingWaits());
    assertTrue(has(ada, "a"));
  }

  // ---- more messages are parked than an actor remembers

  sealed interface Bill {}

  record Plain(String name) implements Bill {}

  record Sent(String idempotencyKey) implements Bill, Idempotent {}

  private final AtomicBoolean interrupted = new AtomicBoolean();

  private Durable<Bill> till() {
    return Durable.kind("till", Bill.class).storeMessages(100).deduplicate(2, Duration.ofDays(1)).state(0)
        .handler((state, bill, context) -> {
          context.step("charge", String.class, () -> {
            charged.add(bill.toString());
            return "receipt";
          });
          if (interrupted.getAndSet(false)) throw new CancellationException("planned: it is tried again");
          if (broken) throw new IllegalStateException("broken");
          return state + 1;
        });
  }

  private void putAside(List<Bill> bills) throws IOException {
    var before = till().newActor(scope.named("ada"), store);
    bills.forEach(before::sendMessage);
    eventually(() -> till().parked(store).size() == bills.size());
    crashAndReopen(before);
  }

  @Test
  void stepsOfAllParkedMessagesAreRetained() throws IOException {
    var bills = List.<Bill>of(new Sent("a"), new Sent("b"), new Plain("c"), new Sent("d"), new Sent("e"));
    putAside(bills);
    broken = false;
    till().newActor(scope.named("ada"), store);
    for (var one : till().parked(store)) till().retry(store, one);

    eventually(() -> store.pending(new Store.ActorId("till", "ada"), Instant.MAX, 9).isEmpty());
    assertEquals(bills.stream().map(Object::toString).toList(), charged);
  }

  @Test
  void stepIsRetainedThoughManyMessagesAreParked() throws IOException {
    putAside(List.of(new Plain("a"), new Plain("b"), new Sent("c")));
    broken = false;
    interrupted.set(true);
    var ada = till().newActor(scope.named("ada"), store);

    ada.sendMessage(new Sent("d"));

    eventually(() -> store.pending(new Store.ActorId("till", "ada"), store.clock().instant(), 9).isEmpty());
    assertEquals(1, Collections.frequency(charged, "Sent[idempotencyKey=d]"));
  }

  @Test
  void stepOfDiscardedMessageCountsForRepeatedSend() throws IOException {
    putAside(List.of(new Sent("a")));
    broken = false;
    till().discard(store, till().parked(store).getFirst());
    var ada = till().newActor(scope.named("ada"), store);
    eventually(() -> store.pending(new Store.ActorId("till", "ada"), Instant.MAX, 9).isEmpty());

    ada.sendMessage(new Sent("a"));

    eventually(() -> store.pending(new Store.ActorId("till", "ada"), Instant.MAX, 9).isEmpty());
    assertEquals(List.of("Sent[idempotencyKey=a]"), charged);
  }
}
