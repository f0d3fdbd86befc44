package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.durable.Desk.Add;
import io.fibry.durable.Desk.Buy;
import io.fibry.durable.Desk.Fail;
import io.fibry.durable.Desk.HoldAndAdd;
import io.fibry.durable.Desk.Items;
import io.fibry.durable.Desk.Message;
import io.fibry.durable.Desk.Pass;
import io.fibry.mailbox.Mailbox;
import io.fibry.store.Store;
import io.fibry.store.StoreUnconfirmedException;
import io.fibry.store.spi.StoreBackend;
import io.fibry.store.spi.StoreBackend.PendingMessage;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Tests the promises about stored messages with every store. */
abstract class StoredMessagesContract extends DeskFixture {
  StoredMessagesContract(TestStores.Maker maker) {
    super(maker);
  }

  @Test
  void storedMessagesAreHandledInOrderAfterCrash() throws IOException {
    var firstActor = keeping().newActor(scope.named("ada"), store);
    var gate = hold(firstActor);
    for (int i = 0; i < 100; i++) assertTrue(firstActor.sendMessage(new Add("i" + i)));

    Patience.acquire(desk.begun);
    crashAndReopen(firstActor);
    var reloadedActor = keeping().newActor(scope.named("ada"), store);
    Patience.acquire(desk.begun);
    assertTrue(reloadedActor.sendMessage(new Add("last"))); // it must not overtake the pending messages
    gate.countDown();

    String expectedItems = IntStream.range(0, 100).mapToObj(i -> "i" + i).collect(Collectors.joining(" "));
    eventually(() -> has(reloadedActor, expectedItems + " last"));
  }

  @Test
  void requestAfterCrashIsHandledAfterPendingMessages() throws IOException {
    for (int i = 0; i < (Soak.ON ? 30 : 6); i++) {
      var firstAda = keeping().newActor(scope.named("ada" + i), store);
      hold(firstAda);
      for (var item : List.of("a", "b")) assertTrue(firstAda.sendMessage(new Add(item)));
      Patience.acquire(desk.begun);
      desk.gates.values().forEach(CountDownLatch::countDown); // for the handlers of this life and of the next life
      crashAndReopen(firstAda);

      var nextAda = keeping().newActor(scope.named("ada" + i), store);
      assertEquals("a b", i % 2 == 0 ? nextAda.ask(new Items()) : nextAda.sendMessageReturn(new Items(), HOUR).join());
    }
  }

  @Test
  void requestIsHandledAfterEarlierMessageOfItsSender() throws Exception {
    desk.others = keeping();
    try (var desks = desk.others.entities(scope.anonymous(), store, IDLE);
        var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var bobSends = threads.submit(() -> {
        for (int i = 0; i < (Soak.ON ? 300 : 48); i++) {
          assertTrue(desks.actor("bob").sendMessage(new Pass("ada", "b" + i)));
          String item = "b" + i;
          if (i % 16 == 15) eventually(() -> desks.actor("ada").ask(new Items()).contains(item)); // limits the backlog
        }
      });
      for (int i = 0; i < (Soak.ON ? 300 : 48); i++) {
        assertTrue(desks.actor("ada").sendMessage(new Add("a" + i)));
        var items = List.of(desks.actor("ada").ask(new Items()).split(" "));
        assertTrue(items.contains("a" + i), items::toString);
      }
      Patience.value(bobSends);
    }
  }

  @Test
  void storedMessagesKeepSenderOrder() {
    var ada = keeping().newActor(scope.named("ada"), store);

    var items = IntStream.range(0, Soak.ON ? 500 : 100).mapToObj(i -> "i" + i).toList();
    for (var item : items) assertTrue(ada.sendMessage(new Add(item)));

    assertEquals(String.join(" ", items), ada.ask(new Items()));
    ada.close();
    assertTrue(store.load(new Store.ActorId("keeping", "ada")).pendingIds().isEmpty());
  }

  @Test
  void storedMessagesKeepOrderWhenActorEndsOrTurnIsRefused() throws Exception {
    long seed = Long.getLong("fibry.seed", System.nanoTime());
    System.out.println("order of stored messages: -Dfibry.seed=" + seed);
    var random = new Random(seed);
    int messagesPerSender = Soak.ON ? 5_000 : messagesPerSender();
    var handlerRandom = new Random(seed + 1); // used by handlers only
    var kind = Durable.kind("keeping", Message.class).storeMessages(1_000).state(Desk.EMPTY)
        .handler((state, message, context) -> {
          if (message instanceof Add) {
            int roll = handlerRandom.nextInt(60);
            if (roll < 20) LockSupport.parkNanos(20_000); // so that kill() often comes during a handler
            if (roll == 0) throw new StoreUnconfirmedException("made up, for a test");
          }
          return desk.handle(state, message, context);
        });
    try (var desks = kind.entities(scope.anonymous(), failingStore(), IDLE);
        var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var attempts = new AtomicInteger();
      var senders = new ArrayList<Future<?>>();
      for (int s = 0; s < 3; s++) {
        int sender = s;
        senders.add(threads.submit(() -> {
          for (int i = 0; i < messagesPerSender; attempts.incrementAndGet())
            if (desks.actor("ada").sendMessage(new Add(sender + ":" + i))) i++;
        }));
      }
      for (int count = 0; count < 3 * messagesPerSender; count = attempts.get()) {
        int target = count + 20 + random.nextInt(60);
        Patience.progress(attempts::get, () -> {
          for (var sender : senders) if (sender.state() == Future.State.FAILED) Patience.value(sender); // throws
          return attempts.get() >= Math.min(target, 3 * messagesPerSender);
        });
        failReads(random.nextInt(8) == 0);
        switch (random.nextInt(4)) {
          case 0 -> desks.actor("ada").close();
          case 1 -> desks.actor("ada").kill();
          case 2 -> failNextWrite();
          default -> {
            failNextWrite();
            desks.actor("ada").kill();
          }
        }
        clock.advance(Duration.ofSeconds(random.nextInt(3)));
      }
      for (var sender : senders) Patience.value(sender); // an attempt that was refused is made again
      failReads(false);
      desks.actor("ada").sendMessage(new Desk.Forget("none")); // uses up a write failure that is still pending
      eventually(() -> {
        clock.advance(Duration.ofSeconds(1));
        return store.pending(new Store.ActorId("keeping", "ada"), Instant.MAX, 9).isEmpty();
      });

      var items = desks.actor("ada").ask(new Items()).split(" ");
      for (int s = 0; s < 3; s++) {
        String sender = s + ":";
        assertEquals(IntStream.range(0, messagesPerSender).mapToObj(i -> sender + i).toList(),
            Stream.of(items).filter(item -> item.startsWith(sender)).toList(), "seed " + seed);
      }
    }
  }

  @Test
  void messagesSentByTurnsKeepOrderWhenSenderOrReceiverEnds() throws Exception {
    long seed = Long.getLong("fibry.seed", System.nanoTime());
    System.out.println("order of messages of turns: -Dfibry.seed=" + seed);
    var random = new Random(seed);
    desk.others = keeping();
    try (var desks = desk.others.entities(scope.anonymous(), store, IDLE)) {
      var sent = new ArrayList<String>();
      for (int i = 0; i < (Soak.ON ? 1_000 : 100); i++) {
        String item = "i" + i;
        assertTrue(desks.actor("bob").sendMessage(new Pass("ada", item)));
        sent.add(item);
        switch (random.nextInt(30)) {
          case 0 -> desks.actor("ada").kill();
          case 1 -> desks.actor("bob").kill();
          case 2 -> desks.actor("ada").close();
          default -> {
            // both actors live on
          }
        }
      }
      String expectedItems = String.join(" ", sent);
      eventually(() -> {
        clock.advance(Duration.ofSeconds(1));
        return has(desks.actor("ada"), expectedItems);
      });
    }
  }

  @Test
  void unreadableMessageDelaysNoOtherMessage() throws Exception {
    var id = new Store.ActorId("keeping", "ada");
    store.enqueue(new PendingMessage(id, "m:bad", Instant.EPOCH, new byte[] {1}), 9).toCompletableFuture().get();
    store.enqueue(new PendingMessage(id, "m:worse", Instant.EPOCH, new byte[0]), 9).toCompletableFuture().get();
    try (var desks = keeping().entities(scope.anonymous(), store, IDLE)) {
      for (var item : List.of("a", "b")) {
        assertTrue(desks.actor("ada").sendMessage(new Add(item)));
        desks.actor("ada").kill();
      }

      eventually(() -> {
        clock.advance(Duration.ofSeconds(1));
        return store.pending(id, Instant.MAX, 9).size() == 2;
      });
      assertEquals("a b", desks.actor("ada").ask(new Items()));
    }
    assertEquals(List.of("m:bad", "m:worse"),
        store.pending(id, Instant.MAX, 9).stream().map(PendingMessage::id).toList());
  }

  @Test
  void pendingLimitCountsOnlyMessagesDueBeforeNewMessage() {
    var laterMessages = new ArrayList<CompletableFuture<Boolean>>();
    var presentMessages = new ArrayList<CompletableFuture<Boolean>>();
    var lastMessages = new ArrayList<CompletableFuture<Boolean>>();
    for (int i = 0; i < 50; i++) { // without waits, so that a store may write all messages at once
      var id = new Store.ActorId("keeping", "a" + i);
      laterMessages.add(enqueue(id, "later", 2, 1));
      presentMessages.add(enqueue(id, "now", 1, 1));
      lastMessages.add(enqueue(id, "last", 3, 2));
    }

    for (int i = 0; i < 50; i++) {
      assertTrue(Patience.value(laterMessages.get(i)), "later " + i);
      assertTrue(Patience.value(presentMessages.get(i)), "now " + i);
      assertFalse(Patience.value(lastMessages.get(i)), "last " + i);
      assertEquals(List.of("later", "now"), store.load(new Store.ActorId("keeping", "a" + i)).pendingIds());
    }
  }

  private CompletableFuture<Boolean> enqueue(Store.ActorId to, String id, long dueSecond, int maxPending) {
    return store.enqueue(new PendingMessage(to, id, Instant.ofEpochSecond(dueSecond), new byte[0]), maxPending)
        .toCompletableFuture();
  }

  /**
   * Returns how many messages each of three senders sends in a build without soak tests, to an
   * actor that ends many times during the test.
   */
  int messagesPerSender() {
    return 40;
  }

  /** Lets the next write fail, if the store of the test can fail. */
  void failNextWrite() {}

  /** Sets whether reads of the store from {@link #failingStore} fail. */
  void failReads(boolean fail) {}

  /** Returns the store, whose reads fail while {@link #failReads} says so. */
  StoreBackend failingStore() {
    return store;
  }

  @Test
  void messageBeyondPendingLimitIsRefused() {
    var ada = desk.keeping(10).newActor(scope.named("ada"), store);
    var gate = hold(ada);
    for (int i = 1; i < 10; i++) assertTrue(ada.sendMessage(new Add("a")));

    assertFalse(ada.sendMessage(new Add("a")));
    var failure = assertThrows(StorageFailedException.class, () -> ada.ask(new Items()));

    assertEquals("keeping 'ada' does not get Items[], because it could not be stored: 10 messages wait for it already",
        failure.getMessage());
    gate.countDown();
    eventually(() -> ada.sendMessage(new Add("b")));
  }

  @Test
  void poisonMessageIsParked() throws IOException {
    var kind = keeping();
    var firstActor = kind.newActor(scope.named("ada"), store);
    firstActor.sendMessage(new Fail("poison"));
    firstActor.sendMessage(new Add("a"));
    eventually(() -> has(firstActor, "a"));
    crashAndReopen(firstActor);

    var reloadedActor = kind.newActor(scope.named("ada"), store);

    assertTrue(has(reloadedActor, "a"));
    var parked = kind.parked(store);
    assertEquals(1, parked.size());
    assertEquals(new ParkedMessage<>("ada", parked.getFirst().id(), new Fail("poison"),
        "java.lang.IllegalStateException: made up, for a test: poison", instants().instant()), parked.getFirst());
  }

  @Test
  void messageThatRepeatedlyCrashesProcessIsParked() throws IOException {
    var kind = keeping();
    var actor = kind.newActor(scope.named("ada"), store);
    hold(actor);
    actor.sendMessage(new Add("a"));
    for (int i = 0; i < 6; i++) { // 6, because the first attempt is not counted: the message is new
      Patience.acquire(desk.begun);
      crashAndReopen(actor);
      actor = kind.newActor(scope.named("ada"), store);
    }

    var lastActor = actor;
    eventually(() -> has(lastActor, "a"));
    var parked = kind.parked(store);
    assertEquals(1, parked.size());
    assertEquals("it was begun 5 times after restarts, and each time the process ended", parked.getFirst().reason());
  }

  @Test
  void killOfActorDoesNotCountAsFailedAttempt() {
    var kind = keeping();
    var actor = kind.newActor(scope.named("ada"), store);
    var gate = hold(actor);
    for (int i = 0; i < 8; i++) {
      Patience.acquire(desk.begun);
      actor.kill();
      Patience.awaitEnd(actor::waitForExit);
      actor = kind.newActor(scope.named("ada"), store);
    }
    gate.countDown();

    var lastActor = actor;
    eventually(() -> store.pending(new Store.ActorId("keeping", "ada"), Instant.MAX, 9).isEmpty());
    assertEquals("", lastActor.ask(new Items()));
    assertEquals(List.of(), kind.parked(store));
  }

  @Test
  void parkedMessagesDoNotCountAsPending() {
    var ada = desk.keeping(3).newActor(scope.named("ada"), store);

    for (int i = 0; i < 10; i++) {
      assertTrue(ada.sendMessage(new Fail("" + i)));
      eventually(() -> store.pending(new Store.ActorId("keeping", "ada"), instants().instant(), 9).isEmpty());
    }

    assertEquals(10, desk.keeping(3).parked(store).size());
  }

  @Test
  void failedRequestIsParkedAfterItsAskerCancelled() {
    var ada = keeping().newActor(scope.named("ada"), store);
    var gate = hold(ada);
    var answer = ada.sendMessageReturn(new Fail("late"));
    answer.cancel(true);
    gate.countDown();

    eventually(() -> keeping().parked(store).size() == 1);
  }

  @Test
  void mailboxThatReordersMessagesIsRefused() {
    var builder = scope.named("ada").mailbox(Mailbox.priority((Object first, Object second) -> 0));

    var failure = assertThrows(IllegalArgumentException.class, () -> keeping().newActor(builder, store));

    assertEquals(
        "an actor of kind 'keeping' cannot be made: messages that wait at the store keep their order, so its "
            + "mailbox cannot reorder them",
        failure.getMessage());
  }

  @Test
  void askerOfStoredRequestGetsFailureOfHandler() {
    var kind = keeping();
    var ada = kind.newActor(scope.named("ada"), store);

    var failure = assertThrows(IllegalStateException.class, () -> ada.ask(new Fail("asked")));

    assertEquals("made up, for a test: asked", failure.getMessage());
    assertEquals(List.of(), kind.parked(store));
  }

  @Test
  void requestCancelledDuringItsTurnIsHandledOnce() {
    var ada = keeping().newActor(scope.named("ada"), store);
    for (int i = 0; i < 20; i++) {
      var gate = new CountDownLatch(1);
      desk.gates.put("gate" + i, gate);
      var answer = ada.sendMessageReturn(new HoldAndAdd("gate" + i, "a"));
      Patience.acquire(desk.begun);
      answer.cancel(true); // now a courier delivers the message again
      ada.sendMessage(new Add("b"));
      gate.countDown();
    }

    eventually(() -> store.pending(new Store.ActorId("keeping", "ada"), Instant.MAX, 99).isEmpty());
    var items =
        Stream.of(ada.ask(new Items()).split(" ")).collect(Collectors.groupingBy(item -> item, Collectors.counting()));
    assertEquals(Map.of("a", 20L, "b", 20L), items);
  }

  @Test
  void storedRequestIsHandledThoughCancelledBeforeItsTurn() {
    var ada = keeping().newActor(scope.named("ada"), store);
    var gate = hold(ada);
    var answer = ada.sendMessageReturn(new Buy("x", "a"));

    answer.cancel(true);
    gate.countDown();

    eventually(() -> has(ada, "a"));
  }

  @Test
  void storedMessagesSurvivePassivation() {
    try (var desks = keeping().entities(scope.anonymous(), store, IDLE)) {
      for (int i = 0; i < 50; i++) {
        desks.actor("ada").sendMessage(new Add("i" + i));
        if (i % 10 == 9) desks.actor("ada").close();
      }

      assertEquals(50, desks.actor("ada").ask(new Items()).split(" ").length);
    }
  }

  @Test
  void kindWithUnencodableMessagesCannotStoreThem() {
    var failure = assertThrows(IllegalArgumentException.class, () -> Durable.kind("bad", Thread.class)
        .storeMessages(10).state(0L).handler((state, message) -> state));

    assertTrue(failure.getMessage().startsWith("messages of java.lang.Thread cannot be encoded, so they cannot be "
        + "stored: "), failure.getMessage());
  }
}
