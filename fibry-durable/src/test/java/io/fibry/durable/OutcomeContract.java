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
import io.fibry.Outcome;
import io.fibry.Request;
import io.fibry.RequestException;
import io.fibry.durable.FlakyStore.How;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pool.Entities;
import io.fibry.store.Store;
import io.fibry.store.StoreBusyException;
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

/** The outcome in the failure of a request, at every store. */
abstract class OutcomeContract extends StoreFixture {
  /** Puts an item on the list; its answer is the number of items. */
  record Put(String item) implements Request<Put, Integer> {}

  record Items(List<String> items) {}

  private static final Items NONE = new Items(List.of());
  private static final Store.ActorId ADA = new Store.ActorId("list", "ada");
  private static final Duration HOUR = Duration.ofHours(1);

  private final Semaphore begun = new Semaphore(0);
  private final CountDownLatch gate = new CountDownLatch(1);

  OutcomeContract(TestStores.Maker maker) {
    super(maker);
  }

  private Durable.Builder<Put> list(int keeps) {
    var kind = Durable.kind("list", Put.class);
    return keeps == 0 ? kind : kind.storeMessages(keeps);
  }

  /** The item "hold" waits for the gate. */
  private Durable<Put> holding(int keeps) {
    return list(keeps).state(NONE).handler((state, put, context) -> {
      if (put.item().equals("hold")) {
        begun.release();
        gate.await();
      }
      return with(state, put, context);
    });
  }

  private static Items with(Items state, Put put, DurableContext<Put> context) {
    var items = new ArrayList<>(state.items());
    items.add(put.item());
    context.reply(put, items.size());
    return new Items(List.copyOf(items));
  }

  private Entities<String, Put> lists(Durable<Put> kind, Store at) {
    return kind.entities(scope.anonymous().mailbox(Mailbox.bounded(2, Overflow.REJECT))
        .onFailure(FailurePolicy.resume().withoutLog()), at, IDLE);
  }

  private void checkDone(String... items) {
    assertEquals(List.of(items), stored(), () -> "aside: " + holding(9).parked(store));
  }

  /** Parked messages are never due. */
  private void awaitNoneWaits() {
    gate.countDown();
    eventually(() -> {
      clock.advance(Duration.ofSeconds(1)); // couriers try again
      return store.pending(ADA, instants().instant(), 9).isEmpty();
    });
  }

  /** Reads the list by a program that has no other work. */
  private List<String> stored() {
    var items = new CompletableFuture<List<String>>();
    try (var list = list(0).state(NONE).handler((state, put, context) -> {
      if (put.item().equals("look")) items.complete(state.items()); // others may wait for other actors
      context.reply(put, 0);
      return state;
    }).entities(scope.anonymous(), store, IDLE)) {
      list.actor("ada").ask(new Put("look"), HOUR);
    }
    return items.join();
  }

  private <T extends RequestException> T check(Class<T> type, Outcome outcome, Throwable failure, Put request) {
    assertEquals(outcome, RequestException.outcomeOf(failure, request), failure::toString);
    return assertInstanceOf(type, failure);
  }

  /** Returns the failure of the future, or of the call that makes it. */
  private static Throwable failure(Supplier<CompletableFuture<?>> sending) {
    try {
      return Patience.failure(sending.get());
    } catch (RequestException unsent) {
      return unsent;
    }
  }

  @Test
  void storedRequestToFullMailboxWillBeDone() {
    try (var lists = lists(holding(99), store)) {
      var ada = lists.actor("ada");
      var held = ada.sendMessageReturn(new Put("hold"));
      Patience.acquired(begun);
      var waits = List.of(ada.sendMessageReturn(new Put("a")), ada.sendMessageReturn(new Put("b")));
      var c = new Put("c");
      var d = new Put("d");

      var failure = assertThrows(RequestStoredException.class, () -> ada.ask(c));
      var future = ada.sendMessageReturn(d);

      check(RequestStoredException.class, Outcome.WILL_BE_DONE, failure, c);
      assertEquals("list 'ada' keeps Put[item=c], and handles it once without being sent it again, but does not "
          + "answer: its mailbox is full (2 messages)", failure.getMessage());
      assertInstanceOf(MailboxFullException.class, failure.getCause());
      check(RequestStoredException.class, Outcome.WILL_BE_DONE, Patience.failure(future), d);
      gate.countDown();
      assertEquals(1, Patience.value(held));
      waits.forEach(Patience::value);
      awaitNoneWaits();
    }
    checkDone("hold", "a", "b", "c", "d");
  }

  @Test
  void timedOutStoredRequestWillBeDone() {
    try (var lists = lists(holding(99), store)) {
      var ada = lists.actor("ada");
      var held = new Put("hold");
      var a = new Put("a");
      var futures = Map.of(held, ada.sendMessageReturn(held, HOUR), a, ada.sendMessageReturn(a, HOUR));
      Patience.acquired(begun);

      clock.advance(HOUR);

      futures.forEach((put, future) -> assertInstanceOf(AskTimeoutException.class,
          check(RequestStoredException.class, Outcome.WILL_BE_DONE, Patience.failure(future), put).getCause()));
      awaitNoneWaits();
    }
    checkDone("hold", "a");
  }

  @Test
  void storedRequestToEndedActorWillBeDone() {
    var kind = holding(99);
    var before = kind.newActor(scope.named("ada"), store);
    var futures = new ConcurrentHashMap<Put, CompletableFuture<Integer>>();
    for (var put : List.of(new Put("hold"), new Put("a"))) futures.put(put, before.sendMessageReturn(put));
    Patience.acquired(begun);

    before.kill();

    futures.forEach(
        (put, future) -> check(RequestStoredException.class, Outcome.WILL_BE_DONE, Patience.failure(future), put));
    assertInstanceOf(ActorStoppedException.class, Patience.failure(futures.get(new Put("a"))).getCause());
    gate.countDown();
    Patience.ended(before::waitForExit);
    var after = kind.newActor(scope.named("ada"), store);
    awaitNoneWaits();
    after.close();
    checkDone("hold", "a");
  }

  @ParameterizedTest
  @EnumSource
  void storedRequestWithUnstoredTurnWillBeDone(How how) {
    var flaky = new FlakyStore(store, new Random(0));
    var once = new AtomicInteger();
    var put = new Put("a");
    try (var lists = lists(list(99).state(NONE).handler((state, one, context) -> {
      if (once.getAndIncrement() == 0) flaky.failNext("append", how);
      return with(state, one, context);
    }), flaky.asStore())) {
      var failure = assertThrows(NotStoredException.class, () -> lists.actor("ada").ask(put));

      check(NotStoredException.class, Outcome.WILL_BE_DONE, failure, put);
      assertTrue(failure.getMessage().startsWith("list 'ada' handled Put[item=a], and could not store what it did; "
          + "it keeps it, and handles it once without being sent it again: "), failure.getMessage());
      awaitNoneWaits();
    }
    checkDone("a");
  }

  @Test
  void storedRequestToUnreadableActorWillBeDone() {
    var flaky = new FlakyStore(store, new Random(0));
    var a = new Put("a");
    var b = new Put("b");
    try (var lists = lists(list(99).state(NONE).handler(OutcomeContract::with), flaky.asStore())) {
      var ada = lists.actor("ada");
      flaky.failNext("load", How.REFUSED);
      check(RequestStoredException.class, Outcome.WILL_BE_DONE, assertThrows(RequestException.class, () -> ada.ask(a)),
          a);
      awaitNoneWaits();
      flaky.failNext("load", How.REFUSED);
      check(RequestStoredException.class, Outcome.WILL_BE_DONE, failure(() -> lists.actor("bob").sendMessageReturn(b)),
          b);
    }
    checkDone("a");
  }

  @Test
  void storedRequestWithInterruptedHandlerWillBeDone() {
    var times = new AtomicInteger();
    var put = new Put("a");
    try (var lists = lists(list(99).state(NONE).handler((state, one, context) -> {
      if (times.getAndIncrement() == 0) throw new CancellationException("made up, for a test");
      return with(state, one, context);
    }), store)) {
      var failure = assertThrows(RequestStoredException.class, () -> lists.actor("ada").ask(put));

      check(RequestStoredException.class, Outcome.WILL_BE_DONE, failure, put);
      assertInstanceOf(CancellationException.class, failure.getCause());
      awaitNoneWaits();
    }
    checkDone("a");
  }

  @Test
  void requestThatCannotBeStoredIsNotDone() {
    var flaky = new FlakyStore(store, new Random(0));
    try (var lists = lists(holding(1), flaky.asStore())) {
      var ada = lists.actor("ada");
      flaky.failNext("enqueue", How.REFUSED);
      var refused = new Put("refused");
      check(NotStoredException.class, Outcome.NOT_DONE, assertThrows(NotStoredException.class, () -> ada.ask(refused)),
          refused);
      var held = ada.sendMessageReturn(new Put("hold"));
      Patience.acquired(begun);
      var tooMany = new Put("too many");

      var failure = assertThrows(NotStoredException.class, () -> ada.ask(tooMany));

      check(NotStoredException.class, Outcome.NOT_DONE, failure, tooMany);
      gate.countDown();
      assertEquals(1, Patience.value(held));
    }
    checkDone("hold");
  }

  @Test
  void requestWithoutStoreResponseIsUnknown() {
    var flaky = new FlakyStore(store, new Random(0));
    try (var lists = lists(list(99).state(NONE).handler(OutcomeContract::with), flaky.asStore())) {
      for (var how : List.of(How.LOST_BEFORE, How.LOST_BEHIND)) {
        flaky.failNext("enqueue", how);
        var put = new Put(how.name());
        check(NotStoredException.class, Outcome.UNKNOWN,
            assertThrows(NotStoredException.class, () -> lists.actor("ada").ask(put)), put);
      }
      awaitNoneWaits();
    }
    checkDone(How.LOST_BEHIND.name());
  }

  @Test
  void plainRequestWithUnstoredTurnIsNotDoneOrUnknown() {
    var flaky = new FlakyStore(store, new Random(0));
    try (var lists = lists(list(0).state(NONE).handler(OutcomeContract::with), flaky.asStore())) {
      for (var how : How.values()) {
        flaky.failNext("append", how);
        var put = new Put(how.name());
        check(NotStoredException.class, how == How.REFUSED ? Outcome.NOT_DONE : Outcome.UNKNOWN,
            assertThrows(NotStoredException.class, () -> lists.actor("ada").ask(put)), put);
      }
    }
    checkDone(How.LOST_BEHIND.name());
  }

  /** A ring is found where a handler waits for the future, which can also be cancelled. */
  @Test
  void futureOfAKeptRequestIsThatOfTheActor() {
    var failures = new ArrayBlockingQueue<Throwable>(1);
    try (var lists = lists(list(99).state(NONE).handler((state, put, context) -> {
      if (put.item().equals("itself")) try {
        context.self().sendMessageReturn(new Put("ring")).join();
      } catch (AskCycleException ring) {
        failures.add(ring);
      }
      if (put.item().equals("hold")) gate.await();
      return with(state, put, context);
    }), store)) {
      assertEquals(1, lists.actor("ada").ask(new Put("itself")));
      assertInstanceOf(AskCycleException.class, Patience.next(failures));
      var cancelled = lists.actor("ada").sendMessageReturn(new Put("hold"));
      cancelled.cancel(true);
      assertThrows(CancellationException.class, cancelled::join);
      awaitNoneWaits();
    }
    checkDone("itself", "ring", "hold");
  }

  // ---- many faults

  /** How many requests each of four clients sends in each build. */
  int each() {
    return 40;
  }

  /**
   * Clients believe the outcome: they repeat at NOT_DONE, and at nothing else. Their actor is
   * killed, passivated and out of room, its store fails, and handlers do.
   */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void clientThatTrustsOutcomesLosesAndRepeatsNothing(boolean keeps) throws Exception {
    long seed = Long.getLong("fibry.seed", System.nanoTime());
    System.out.println("outcomes of " + (keeps ? "kept" : "plain") + " requests: -Dfibry.seed=" + seed);
    var random = new Random(seed);
    var handlers = new Random(seed + 1);
    var flaky = new FlakyStore(store, new Random(seed + 2));
    var kind = list(keeps ? 6 : 0).state(NONE).handler((state, put, context) -> {
      LockSupport.parkNanos(handlers.nextInt(50_000));
      int roll = handlers.nextInt(60);
      if (roll == 0) throw new StoreBusyException("made up, for a test");
      if (roll == 1) throw new IllegalStateException("made up, for a test");
      return with(state, put, context);
    });
    OutcomeClients clients;
    try (var lists = lists(kind, flaky.asStore())) {
      flaky.failOneIn(12);
      clients = new OutcomeClients(random, Soak.ON ? 3_000 : each(), () -> lists.actor("ada"));
      while (!clients.areDone()) {
        LockSupport.parkNanos(random.nextInt(400_000));
        switch (random.nextInt(6)) {
          case 0 -> lists.actor("ada").kill();
          case 1 -> lists.actor("ada").sendPoisonPill();
          default -> clock.advance(Duration.ofMillis(random.nextInt(20)));
        }
      }
      flaky.failOneIn(0);
      awaitNoneWaits();
    }
    clients.check(stored(), kind.parked(store).stream().map(one -> one.message().item()).toList(), keeps,
        "seed " + seed);
  }
}
