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
import io.fibry.store.StoreBusyException;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The promises of kept messages at every store. */
abstract class StoredMessagesContract extends DeskFixture {
  StoredMessagesContract(TestStores.Maker maker) {
    super(maker);
  }

  @Test
  void storedMessageIsHandledAfterProcessEnds() throws IOException {
    var before = keeping().newActor(scope.named("ada"), store);
    var held = hold(before);
    for (int i = 0; i < 100; i++) assertTrue(before.sendMessage(new Add("i" + i)));

    Patience.acquired(desk.begun);
    crashAndReopen(before);
    var after = keeping().newActor(scope.named("ada"), store);
    Patience.acquired(desk.begun);
    assertTrue(after.sendMessage(new Add("last"))); // it overtakes none
    held.countDown();

    String all = IntStream.range(0, 100).mapToObj(i -> "i" + i).collect(Collectors.joining(" "));
    eventually(() -> has(after, all + " last"));
  }

  @Test
  void requestFollowsMessagesPendingAtStart() throws IOException {
    for (int i = 0; i < (Soak.ON ? 30 : 6); i++) {
      var before = keeping().newActor(scope.named("ada" + i), store);
      hold(before);
      for (var item : List.of("a", "b")) assertTrue(before.sendMessage(new Add(item)));
      Patience.acquired(desk.begun);
      desk.gates.values().forEach(CountDownLatch::countDown); // the actor, and its life to come
      crashAndReopen(before);

      var after = keeping().newActor(scope.named("ada" + i), store);
      assertEquals("a b", i % 2 == 0 ? after.ask(new Items()) : after.sendMessageReturn(new Items(), HOUR).join());
    }
  }

  @Test
  void requestFollowsMessagesOfItsSenderDuringDelivery() throws Exception {
    desk.others = keeping();
    try (var desks = desk.others.entities(scope.anonymous(), store, IDLE);
        var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var passing = threads.submit(() -> {
        for (int i = 0; i < (Soak.ON ? 300 : 48); i++) {
          assertTrue(desks.actor("bob").sendMessage(new Pass("ada", "b" + i)));
          String last = "b" + i;
          if (i % 16 == 15) eventually(() -> desks.actor("ada").ask(new Items()).contains(last)); // few wait
        }
      });
      for (int i = 0; i < (Soak.ON ? 300 : 48); i++) {
        assertTrue(desks.actor("ada").sendMessage(new Add("a" + i)));
        var items = List.of(desks.actor("ada").ask(new Items()).split(" "));
        assertTrue(items.contains("a" + i), items::toString);
      }
      Patience.value(passing);
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
  void storedMessagesKeepOrderAcrossEndsAndRefusedTurns() throws Exception {
    long seed = Long.getLong("fibry.seed", System.nanoTime());
    System.out.println("order of kept messages: -Dfibry.seed=" + seed);
    var random = new Random(seed);
    int each = Soak.ON ? 5_000 : rounds();
    var dice = new Random(seed + 1); // of handlers
    var kind = Durable.kind("keeping", Message.class).storeMessages(1_000).state(Desk.EMPTY)
        .handler((state, message, context) -> {
          if (message instanceof Add) {
            int roll = dice.nextInt(60);
            if (roll < 20) LockSupport.parkNanos(20_000); // most are killed while they handle one
            if (roll == 0) throw new StoreBusyException("made up, for a test");
          }
          return desk.handle(state, message, context);
        });
    try (var desks = kind.entities(scope.anonymous(), failing(), IDLE);
        var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var sent = new AtomicInteger();
      for (int s = 0; s < 3; s++) {
        int sender = s;
        threads.submit(() -> {
          for (int i = 0; i < each; sent.incrementAndGet())
            if (desks.actor("ada").sendMessage(new Add(sender + ":" + i))) i++;
        });
      }
      for (int done = 0; done < 3 * each; done = sent.get()) {
        int until = done + 20 + random.nextInt(60);
        Patience.progress(sent::get, () -> sent.get() >= Math.min(until, 3 * each));
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
      failReads(false);
      desks.actor("ada").sendMessage(new Desk.Forget("none")); // a write that is still to fail fails now
      eventually(() -> {
        clock.advance(Duration.ofSeconds(1));
        return store.pending(new Store.ActorId("keeping", "ada"), Instant.MAX, 9).isEmpty();
      });

      var items = desks.actor("ada").ask(new Items()).split(" ");
      for (int s = 0; s < 3; s++) {
        String sender = s + ":";
        assertEquals(IntStream.range(0, each).mapToObj(i -> sender + i).toList(),
            Stream.of(items).filter(item -> item.startsWith(sender)).toList(), "seed " + seed);
      }
    }
  }

  @Test
  void messagesOfTurnsKeepOrderAcrossEndsOfBothActors() throws Exception {
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
            // the requests continue
          }
        }
      }
      String all = String.join(" ", sent);
      eventually(() -> {
        clock.advance(Duration.ofSeconds(1));
        return has(desks.actor("ada"), all);
      });
    }
  }

  @Test
  void unreadableMessageDelaysNoOther() throws Exception {
    var id = new Store.ActorId("keeping", "ada");
    store.enqueue(new Store.PendingMessage(id, "m:bad", Instant.EPOCH, new byte[] {1}), 9).toCompletableFuture().get();
    store.enqueue(new Store.PendingMessage(id, "m:worse", Instant.EPOCH, new byte[0]), 9).toCompletableFuture().get();
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
        store.pending(id, Instant.MAX, 9).stream().map(Store.PendingMessage::id).toList());
  }

  /**
   * How many messages each of three senders sends in each build, while their actor ends again and
   * again.
   */
  int rounds() {
    return 40;
  }

  /** If this store can fail. */
  void failNextWrite() {}

  /** Lets readings of a `failing` store fail. */
  void failReads(boolean fail) {}

  Store failing() {
    return store;
  }

  @Test
  void pendingMessagesAreLimited() {
    var ada = desk.keeping(10).newActor(scope.named("ada"), store);
    var held = hold(ada);
    for (int i = 1; i < 10; i++) assertTrue(ada.sendMessage(new Add("a")));

    assertFalse(ada.sendMessage(new Add("a")));
    var failure = assertThrows(NotStoredException.class, () -> ada.ask(new Items()));

    assertEquals("keeping 'ada' does not get Items[], since it could not be kept: 10 messages wait for it already",
        failure.getMessage());
    held.countDown();
    eventually(() -> ada.sendMessage(new Add("b")));
  }

  @Test
  void poisonMessageIsParked() throws IOException {
    var kind = keeping();
    var before = kind.newActor(scope.named("ada"), store);
    before.sendMessage(new Fail("poison"));
    before.sendMessage(new Add("a"));
    eventually(() -> has(before, "a"));
    crashAndReopen(before);

    var after = kind.newActor(scope.named("ada"), store);

    assertTrue(has(after, "a"));
    var aside = kind.parked(store);
    assertEquals(1, aside.size());
    assertEquals(new ParkedMessage<>("ada", aside.getFirst().id(), new Fail("poison"),
        "java.lang.IllegalStateException: made up, for a test: poison", instants().instant()), aside.getFirst());
  }

  @Test
  void messageThatKeepsEndingItsProcessIsParked() throws IOException {
    var kind = keeping();
    var actor = kind.newActor(scope.named("ada"), store);
    hold(actor);
    actor.sendMessage(new Add("a"));
    for (int i = 0; i < 6; i++) { // the first time it has not waited
      Patience.acquired(desk.begun);
      crashAndReopen(actor);
      actor = kind.newActor(scope.named("ada"), store);
    }

    var last = actor;
    eventually(() -> has(last, "a"));
    var aside = kind.parked(store);
    assertEquals(1, aside.size());
    assertEquals("it was begun 5 times, and each time the process ended", aside.getFirst().reason());
  }

  @Test
  void orderlyEndIsNotCountedAgainstMessage() {
    var kind = keeping();
    var actor = kind.newActor(scope.named("ada"), store);
    var held = hold(actor);
    for (int i = 0; i < 8; i++) {
      Patience.acquired(desk.begun);
      actor.kill();
      Patience.ended(actor::waitForExit);
      actor = kind.newActor(scope.named("ada"), store);
    }
    held.countDown();

    var last = actor;
    eventually(() -> store.pending(new Store.ActorId("keeping", "ada"), Instant.MAX, 9).isEmpty());
    assertEquals("", last.ask(new Items()));
    assertEquals(List.of(), kind.parked(store));
  }

  @Test
  void parkedMessagesTakeNoRoom() {
    var ada = desk.keeping(3).newActor(scope.named("ada"), store);

    for (int i = 0; i < 10; i++) {
      assertTrue(ada.sendMessage(new Fail("" + i)));
      eventually(() -> store.pending(new Store.ActorId("keeping", "ada"), instants().instant(), 9).isEmpty());
    }

    assertEquals(10, desk.keeping(3).parked(store).size());
  }

  @Test
  void failingRequestIsParkedWhenItsAskerIsGone() {
    var ada = keeping().newActor(scope.named("ada"), store);
    var held = hold(ada);
    var answer = ada.sendMessageReturn(new Fail("late"));
    answer.cancel(true);
    held.countDown();

    eventually(() -> keeping().parked(store).size() == 1);
  }

  @Test
  void aMailboxWithAnotherOrderIsRefused() {
    var how = scope.named("ada").mailbox(Mailbox.priority((Object one, Object other) -> 0));

    var failure = assertThrows(IllegalArgumentException.class, () -> keeping().newActor(how, store));

    assertEquals(
        "there can be no such actor of kind 'keeping': messages that wait at the store keep their order, so its "
            + "mailbox cannot have another",
        failure.getMessage());
  }

  @Test
  void askerOfStoredRequestGetsItsFailure() {
    var kind = keeping();
    var ada = kind.newActor(scope.named("ada"), store);

    var failure = assertThrows(IllegalStateException.class, () -> ada.ask(new Fail("asked")));

    assertEquals("made up, for a test: asked", failure.getMessage());
    assertEquals(List.of(), kind.parked(store));
  }

  @Test
  void abandonedRequestIsHandledOnce() {
    var ada = keeping().newActor(scope.named("ada"), store);
    for (int i = 0; i < 20; i++) {
      var gate = new CountDownLatch(1);
      desk.gates.put("gate" + i, gate);
      var answer = ada.sendMessageReturn(new HoldAndAdd("gate" + i, "a"));
      Patience.acquired(desk.begun);
      answer.cancel(true); // now a courier comes, and gives it again
      ada.sendMessage(new Add("b"));
      gate.countDown();
    }

    eventually(() -> store.pending(new Store.ActorId("keeping", "ada"), Instant.MAX, 99).isEmpty());
    var items =
        Stream.of(ada.ask(new Items()).split(" ")).collect(Collectors.groupingBy(x -> x, Collectors.counting()));
    assertEquals(Map.of("a", 20L, "b", 20L), items);
  }

  @Test
  void requestAbandonedBeforeItsTurnIsHandled() {
    var ada = keeping().newActor(scope.named("ada"), store);
    var held = hold(ada);
    var answer = ada.sendMessageReturn(new Buy("x", "a"));

    answer.cancel(true);
    held.countDown();

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
  void unencodableMessagesCannotBeStored() {
    var failure = assertThrows(IllegalArgumentException.class, () -> Durable.kind("bad", Thread.class)
        .storeMessages(10).state(0L).handler((state, message) -> state));

    assertTrue(failure.getMessage().startsWith("messages of java.lang.Thread have no form in bytes, so they cannot be "
        + "kept: "), failure.getMessage());
  }
}
