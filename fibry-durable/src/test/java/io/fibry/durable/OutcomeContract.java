package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorStoppedException;
import io.fibry.AskCycleException;
import io.fibry.AskTimeoutException;
import io.fibry.FailurePolicy;
import io.fibry.MailboxFullException;
import io.fibry.Request;
import io.fibry.RequestException;
import io.fibry.RequestOutcome;
import io.fibry.durable.FlakyStore.WriteFault;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pool.Entities;
import io.fibry.store.Store;
import io.fibry.store.StoreUnconfirmedException;
import io.fibry.store.spi.StoreBackend;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the outcome that the failure of a request reports, with every store. */
abstract class OutcomeContract extends StoreFixture {
  /** Adds an item to the list; the answer is the number of items. */
  record Put(String item) implements Request<Put, Integer> {}

  record Items(List<String> items) {}

  private static final Items NO_ITEMS = new Items(List.of());
  private static final Store.ActorId ADA = new Store.ActorId("list", "ada");
  private static final Duration HOUR = Duration.ofHours(1);

  private final Semaphore holding = new Semaphore(0);
  private final CountDownLatch gate = new CountDownLatch(1);

  OutcomeContract(TestStores.Maker maker) {
    super(maker);
  }

  private Durable.Builder<Put> list(int maxStored) {
    var kind = Durable.kind("list", Put.class);
    return maxStored == 0 ? kind : kind.storeMessages(maxStored);
  }

  /** Returns a kind whose handler waits for the gate if the item is "hold". */
  private Durable<Put> holdingList(int maxStored) {
    return list(maxStored).state(NO_ITEMS).handler((state, put, context) -> {
      if (put.item().equals("hold")) {
        holding.release();
        gate.await();
      }
      return withItem(state, put, context);
    });
  }

  private static Items withItem(Items state, Put put, DurableContext<Put> context) {
    var items = new ArrayList<>(state.items());
    items.add(put.item());
    context.reply(put, items.size());
    return new Items(List.copyOf(items));
  }

  private Entities<String, Put> lists(Durable<Put> kind, StoreBackend source) {
    return kind.entities(scope.anonymous().mailbox(Mailbox.bounded(2, Overflow.REJECT))
        .onFailure(FailurePolicy.resume().withoutLog()), source, IDLE);
  }

  private void checkItems(String... items) {
    assertEquals(List.of(items), storedItems(), () -> "parked: " + holdingList(9).parked(store));
  }

  /** Opens the gate, and waits until no message is due. Parked messages are never due. */
  private void awaitNoneDue() {
    gate.countDown();
    eventually(() -> {
      clock.advance(Duration.ofSeconds(1)); // couriers try again
      return store.pending(ADA, instants().instant(), 9).isEmpty();
    });
  }

  /** Reads the list through another definition of the kind, after the test's actors have ended. */
  private List<String> storedItems() {
    var items = new CompletableFuture<List<String>>();
    try (var list = list(0).state(NO_ITEMS).handler((state, put, context) -> {
      // Ignores other messages, which may be pending for this actor
      if (put.item().equals("look")) items.complete(state.items());
      context.reply(put, 0);
      return state;
    }).entities(scope.anonymous(), store, IDLE)) {
      list.actor("ada").ask(new Put("look"), HOUR);
    }
    return items.join();
  }

  private <T extends RequestException> T assertOutcome(Class<T> type, RequestOutcome outcome, Throwable failure,
      Put request) {
    assertEquals(outcome, RequestException.outcomeOf(failure, request), failure::toString);
    return assertInstanceOf(type, failure);
  }

  /** Returns the failure of the future, or of the call that creates it. */
  private static Throwable failureOf(Supplier<CompletableFuture<?>> call) {
    try {
      return Patience.failure(call.get());
    } catch (RequestException failure) {
      return failure;
    }
  }

  @Test
  void storedRequestToFullMailboxHasOutcomeWillBeDone() {
    try (var lists = lists(holdingList(99), store)) {
      try {
        var ada = lists.actor("ada");
        var holdAnswer = ada.sendMessageReturn(new Put("hold"));
        Patience.acquire(holding);
        var waitingAnswers = List.of(ada.sendMessageReturn(new Put("a")), ada.sendMessageReturn(new Put("b")));
        var c = new Put("c");
        var d = new Put("d");

        var failure = assertThrows(RequestStoredException.class, () -> ada.ask(c));
        var future = ada.sendMessageReturn(d);

        assertOutcome(RequestStoredException.class, RequestOutcome.WILL_BE_DONE, failure, c);
        assertEquals("list 'ada' has stored Put[item=c], and handles it once without another send, but does not "
            + "answer: its mailbox is full (2 messages)", failure.getMessage());
        assertInstanceOf(MailboxFullException.class, failure.getCause());
        assertOutcome(RequestStoredException.class, RequestOutcome.WILL_BE_DONE, Patience.failure(future), d);
        gate.countDown();
        assertEquals(1, Patience.value(holdAnswer));
        waitingAnswers.forEach(Patience::value);
        awaitNoneDue();
      } finally {
        gate.countDown();
      }
    }
    checkItems("hold", "a", "b", "c", "d");
  }

  @Test
  void timedOutStoredRequestHasOutcomeWillBeDone() {
    try (var lists = lists(holdingList(99), store)) {
      try {
        var ada = lists.actor("ada");
        var hold = new Put("hold");
        var a = new Put("a");
        var futures = Map.of(hold, ada.sendMessageReturn(hold, HOUR), a, ada.sendMessageReturn(a, HOUR));
        Patience.acquire(holding);

        clock.advance(HOUR);

        futures.forEach((put, future) -> {
          var failure =
              assertOutcome(RequestStoredException.class, RequestOutcome.WILL_BE_DONE, Patience.failure(future), put);
          assertInstanceOf(AskTimeoutException.class, failure.getCause());
        });
        awaitNoneDue();
      } finally {
        gate.countDown();
      }
    }
    checkItems("hold", "a");
  }

  @Test
  void storedRequestToEndedActorHasOutcomeWillBeDone() {
    var kind = holdingList(99);
    var firstActor = kind.newActor(scope.named("ada"), store);
    var futures = new ConcurrentHashMap<Put, CompletableFuture<Integer>>();
    for (var put : List.of(new Put("hold"), new Put("a"))) futures.put(put, firstActor.sendMessageReturn(put));
    Patience.acquire(holding);

    firstActor.kill();

    futures.forEach(
        (put, future) -> assertOutcome(RequestStoredException.class, RequestOutcome.WILL_BE_DONE,
            Patience.failure(future),
            put));
    assertInstanceOf(ActorStoppedException.class, Patience.failure(futures.get(new Put("a"))).getCause());
    gate.countDown();
    Patience.awaitEnd(firstActor::waitForExit);
    var secondActor = kind.newActor(scope.named("ada"), store);
    awaitNoneDue();
    secondActor.close();
    checkItems("hold", "a");
  }

  @ParameterizedTest
  @EnumSource
  void storedRequestWithUnstoredTurnHasOutcomeWillBeDone(WriteFault fault) {
    var flaky = new FlakyStore(store, new Random(0));
    var attempts = new AtomicInteger();
    var put = new Put("a");
    try (var lists = lists(list(99).state(NO_ITEMS).handler((state, message, context) -> {
      if (attempts.getAndIncrement() == 0) flaky.failNext("append", fault);
      return withItem(state, message, context);
    }), flaky.asStore())) {
      var failure = assertThrows(StorageFailedException.class, () -> lists.actor("ada").ask(put));

      assertOutcome(StorageFailedException.class, RequestOutcome.WILL_BE_DONE, failure, put);
      assertTrue(failure.getMessage().startsWith("list 'ada' handled Put[item=a], and could not store the effects; "
          + "the message itself is stored, and the actor handles it again without another send: "),
          failure.getMessage());
      awaitNoneDue();
    }
    checkItems("a");
  }

  @Test
  void storedRequestToUnreadableActorHasOutcomeWillBeDone() {
    var flaky = new FlakyStore(store, new Random(0));
    var a = new Put("a");
    var b = new Put("b");
    try (var lists = lists(list(99).state(NO_ITEMS).handler(OutcomeContract::withItem), flaky.asStore())) {
      var ada = lists.actor("ada");
      flaky.failNext("load", WriteFault.REFUSED);
      assertOutcome(RequestStoredException.class, RequestOutcome.WILL_BE_DONE,
          assertThrows(RequestException.class, () -> ada.ask(a)), a);
      awaitNoneDue();
      flaky.failNext("load", WriteFault.REFUSED);
      assertOutcome(RequestStoredException.class, RequestOutcome.WILL_BE_DONE,
          failureOf(() -> lists.actor("bob").sendMessageReturn(b)), b);
    }
    checkItems("a");
  }

  @Test
  void storedRequestWithCancelledHandlerHasOutcomeWillBeDone() {
    var attempts = new AtomicInteger();
    var put = new Put("a");
    try (var lists = lists(list(99).state(NO_ITEMS).handler((state, message, context) -> {
      if (attempts.getAndIncrement() == 0) throw new CancellationException("made up, for a test");
      return withItem(state, message, context);
    }), store)) {
      var failure = assertThrows(RequestStoredException.class, () -> lists.actor("ada").ask(put));

      assertOutcome(RequestStoredException.class, RequestOutcome.WILL_BE_DONE, failure, put);
      assertInstanceOf(CancellationException.class, failure.getCause());
      awaitNoneDue();
    }
    checkItems("a");
  }

  @Test
  void requestThatCannotBeStoredHasOutcomeNotDone() {
    var flaky = new FlakyStore(store, new Random(0));
    try (var lists = lists(holdingList(1), flaky.asStore())) {
      var ada = lists.actor("ada");
      flaky.failNext("enqueue", WriteFault.REFUSED);
      var firstPut = new Put("refused");
      assertOutcome(StorageFailedException.class, RequestOutcome.NOT_DONE,
          assertThrows(StorageFailedException.class, () -> ada.ask(firstPut)), firstPut);
      try {
        var holdAnswer = ada.sendMessageReturn(new Put("hold"));
        Patience.acquire(holding);
        var thirdPut = new Put("too many");

        var failure = assertThrows(StorageFailedException.class, () -> ada.ask(thirdPut));

        assertOutcome(StorageFailedException.class, RequestOutcome.NOT_DONE, failure, thirdPut);
        gate.countDown();
        assertEquals(1, Patience.value(holdAnswer));
      } finally {
        gate.countDown();
      }
    }
    checkItems("hold");
  }

  @Test
  void outcomeIsUnknownWhenStoreDoesNotConfirmRequest() {
    var flaky = new FlakyStore(store, new Random(0));
    try (var lists = lists(list(99).state(NO_ITEMS).handler(OutcomeContract::withItem), flaky.asStore())) {
      for (var fault : List.of(WriteFault.LOST_UNSTORED, WriteFault.LOST_STORED)) {
        flaky.failNext("enqueue", fault);
        var put = new Put(fault.name());
        assertOutcome(StorageFailedException.class, RequestOutcome.UNKNOWN,
            assertThrows(StorageFailedException.class, () -> lists.actor("ada").ask(put)), put);
      }
      awaitNoneDue();
    }
    checkItems(WriteFault.LOST_STORED.name());
  }

  @Test
  void plainRequestWithUnstoredTurnHasOutcomeNotDoneOrUnknown() {
    var flaky = new FlakyStore(store, new Random(0));
    try (var lists = lists(list(0).state(NO_ITEMS).handler(OutcomeContract::withItem), flaky.asStore())) {
      for (var fault : WriteFault.values()) {
        flaky.failNext("append", fault);
        var put = new Put(fault.name());
        assertOutcome(StorageFailedException.class,
            fault == WriteFault.REFUSED ? RequestOutcome.NOT_DONE : RequestOutcome.UNKNOWN,
            assertThrows(StorageFailedException.class, () -> lists.actor("ada").ask(put)), put);
      }
    }
    checkItems(WriteFault.LOST_STORED.name());
  }

  /**
   * A handler that waits for a stored request to its own actor gets an AskCycleException. An asker
   * can cancel the future of a stored request.
   */
  @Test
  void futureOfStoredRequestDetectsCycleAndCanBeCancelled() {
    var failures = new ArrayBlockingQueue<Throwable>(1);
    try (var lists = lists(list(99).state(NO_ITEMS).handler((state, put, context) -> {
      if (put.item().equals("itself")) try {
        context.self().sendMessageReturn(new Put("cycle")).join();
      } catch (AskCycleException cycle) {
        failures.add(cycle);
      }
      if (put.item().equals("hold")) gate.await();
      return withItem(state, put, context);
    }), store)) {
      try {
        assertEquals(1, lists.actor("ada").ask(new Put("itself")));
        assertInstanceOf(AskCycleException.class, Patience.nextOf(failures));
        var holdAnswer = lists.actor("ada").sendMessageReturn(new Put("hold"));
        holdAnswer.cancel(true);
        assertThrows(CancellationException.class, holdAnswer::join);
        awaitNoneDue();
      } finally {
        gate.countDown();
      }
    }
    checkItems("itself", "cycle", "hold");
  }

  // ---- many faults

  /** Returns how many requests each of the four clients sends in a build without soak tests. */
  int requestsPerClient() {
    return 40;
  }

  /**
   * Clients send a request again if its outcome is NOT_DONE, and never otherwise. Meanwhile their
   * actor is killed or passivated, its mailbox is full, and its store and its handler fail.
   */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void noRequestIsLostOrDoneTwiceIfClientsRepeatOnlyNotDone(boolean stored) throws Exception {
    long seed = Long.getLong("fibry.seed", System.nanoTime());
    System.out.println("outcomes of " + (stored ? "stored" : "plain") + " requests: -Dfibry.seed=" + seed);
    var random = new Random(seed);
    var handlerRandom = new Random(seed + 1);
    var flaky = new FlakyStore(store, new Random(seed + 2));
    var kind = list(stored ? 6 : 0).state(NO_ITEMS).handler((state, put, context) -> {
      LockSupport.parkNanos(handlerRandom.nextInt(50_000));
      int roll = handlerRandom.nextInt(60);
      if (roll == 0) throw new StoreUnconfirmedException("made up, for a test");
      if (roll == 1) throw new IllegalStateException("made up, for a test");
      return withItem(state, put, context);
    });
    OutcomeClients clients;
    try (var lists = lists(kind, flaky.asStore())) {
      flaky.failOneIn(12);
      clients = new OutcomeClients(random, Soak.ON ? 3_000 : requestsPerClient(), () -> lists.actor("ada"));
      while (!clients.areDone()) {
        LockSupport.parkNanos(random.nextInt(400_000));
        switch (random.nextInt(6)) {
          case 0 -> lists.actor("ada").kill();
          case 1 -> lists.actor("ada").sendPoisonPill();
          default -> clock.advance(Duration.ofMillis(random.nextInt(20)));
        }
      }
      flaky.failOneIn(0);
      awaitNoneDue();
    }
    clients.check(storedItems(), kind.parked(store).stream().map(parked -> parked.message().item()).toList(), stored,
        "seed " + seed);
  }
}
