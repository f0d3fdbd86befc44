package io.fibry.durable.delivery;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.AskTimeoutException;
import io.fibry.Exitable;
import io.fibry.Request;
import io.fibry.RequestException;
import io.fibry.durable.Durable;
import io.fibry.durable.DurableContext;
import io.fibry.durable.RequestStoredException;
import io.fibry.durable.SharedStoreAccess;
import io.fibry.durable.kind.DefaultDurableBuilder;
import io.fibry.spi.BlockBuilder;
import io.fibry.store.MemoryStore;
import io.fibry.store.Store;
import io.fibry.store.StoreReadException;
import io.fibry.store.spi.StoreBackend;
import io.fibry.support.Intercepted;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests requests that wait because a courier is reading the pending messages of their actor. */
class CourierTest {
  record Add(String item) implements Request<Add, String> {}

  private static final Store.ActorId ADA = new Store.ActorId("list", "ada");
  private static final Duration IDLE = Duration.ofDays(1);
  private static final int MANY = 1_000;
  private static final Duration LIMIT = Duration.ofSeconds(20); // ask limit, on the clock of the scope
  private static final Durable.Builder<Add> KIND = Durable.kind("list", Add.class);
  private static final Durable<Add> LIST = KIND.storeMessages(9).state("").handler((items, add, context) -> {
    context.reply(add, items + add.item());
    return items + add.item();
  });

  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope =
      ActorSystem.openScope("courier-test", options -> options.withScheduler(clock).withAskLimit(LIMIT));
  private final StoreBackend memory = StoreBackend.of(MemoryStore.open(this::now));
  private final Semaphore readsBegun = new Semaphore(0);
  private final Semaphore mayRead = new Semaphore(0);
  private final Semaphore couriersEnded = new Semaphore(0);
  private volatile boolean readsFail;
  private volatile Runnable onClockRead = () -> {};
  private final StoreBackend store = Intercepted.of(StoreBackend.class, memory, (method, arguments, call) -> {
    if (method.getName().equals("pending") && arguments.length == 3) onRead();
    if (method.getName().equals("nextDueTime")) couriersEnded.release();
    return call.pass();
  });

  @AfterEach
  void close() {
    mayRead.release(MANY);
    scope.close();
  }

  private Instant now() {
    onClockRead.run();
    return Instant.EPOCH.plusNanos(clock.nanoTime());
  }

  private void onRead() {
    readsBegun.release();
    mayRead.acquireUninterruptibly();
    if (readsFail) throw new StoreReadException("made up, for a test", null);
  }

  /**
   * Sends a request while a courier is reading, and then ends the block, which is an actor or its
   * entities. The request must be answered before the block ends.
   */
  private void assertAnswered(Exitable block, Actor<Add> ada, Consumer<Exitable> end) {
    SharedStoreAccess.deliverPending(store, ADA);
    Patience.acquire(readsBegun);
    var answer = ada.sendMessageReturn(new Add("a"));

    end.accept(block);
    mayRead.release(MANY);

    assertEquals("a", Patience.value(answer));
    Patience.awaitEnd(block::waitForExit);
  }

  @Test
  void actorAnswersWaitingRequestsBeforeItEnds() {
    var ada = LIST.newActor(scope.named("ada"), store);
    assertAnswered(ada, ada, Exitable::sendPoisonPill);
  }

  @Test
  void entitiesAnswerWaitingRequestsBeforeTheyEnd() {
    var lists = LIST.entities(scope.anonymous(), store, IDLE);
    assertAnswered(lists, lists.actor("ada"), Exitable::sendPoisonPill);
  }

  @Test
  void closeOfEntitiesWaitsUntilWaitingRequestsAreAnswered() {
    var lists = LIST.entities(scope.anonymous(), store, IDLE);
    assertAnswered(lists, lists.actor("ada"), block -> Thread.startVirtualThread(block::close));
  }

  /** Couriers that read earlier would delay the reads of the remaining messages. */
  @SuppressWarnings("try") // the entities deliver the message without being used
  @Test
  void couriersStartReadingAfterPendingMessagesAreListed() {
    mayRead.release(MANY);
    Patience.value(
        memory.enqueue(new StoreBackend.PendingMessage(ADA, "1", Instant.EPOCH, new byte[] {1}), 9)
            .toCompletableFuture());
    var readsWhileListing = new AtomicInteger(-1);
    var listingStore = Intercepted.of(StoreBackend.class, store, (method, arguments, call) -> {
      Object result = call.pass();
      if (method.getName().equals("forEachPending")) {
        for (int i = 0; i < MANY; i++) Thread.yield(); // lets a courier begin
        readsWhileListing.set(readsBegun.availablePermits());
      }
      return result;
    });

    try (var logged = new Logged(); var lists = LIST.entities(scope.anonymous(), listingStore, IDLE)) {
      Patience.acquire(readsBegun);

      assertEquals(0, readsWhileListing.get());
      Patience.eventually("the message can be decoded", () -> logged.text().contains("cannot be read"));
    }
  }

  @Test
  void handlerThatClosesItsActorDoesNotAwaitHeldRequests() {
    var answer = new CompletableFuture<CompletableFuture<String>>();
    var ada = KIND.state("").handler((items, add, context) -> {
      if (add.item().equals("close")) {
        SharedStoreAccess.deliverPending(store, ADA);
        Patience.acquire(readsBegun);
        answer.complete(context.self().sendMessageReturn(new Add("a")));
        context.self().close();
        mayRead.release(MANY);
      }
      context.reply(add, add.item());
      return items;
    }).newActor(scope.named("ada"), store);

    assertEquals("close", ada.ask(new Add("close")));

    assertEquals("a", Patience.value(Patience.value(answer)));
    Patience.awaitEnd(ada::waitForExit);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void requestWaitingForCourierTimesOutAtAskLimit(boolean isStored) {
    var kind = isStored ? LIST : KIND.state("").handler((String items, Add add, DurableContext<Add> context) -> items);
    var ada = kind.newActor(scope.named("ada"), store);
    SharedStoreAccess.deliverPending(store, ADA);
    Patience.acquire(readsBegun);
    var askFailure = new CompletableFuture<RequestException>();
    var future = ada.sendMessageReturn(new Add("b"), LIMIT);
    var asker =
        Patience.startFiber(() -> assertThrows(RequestException.class, () -> ada.ask(new Add("a"))), askFailure);
    Patience.awaitParked(asker); // both requests wait for the courier
    advanceUntilDone(askFailure);

    for (var failure : List.of(Patience.value(askFailure), Patience.failure(future))) {
      var timeout = assertInstanceOf(AskTimeoutException.class, isStored ? failure.getCause() : failure);
      assertEquals(LIMIT, timeout.limit());
      assertTrue(timeout.getMessage().endsWith("come first"), timeout::getMessage);
      assertEquals(isStored, failure instanceof RequestStoredException);
    }
    ada.kill();
  }

  private void advanceUntilDone(CompletableFuture<?> result) {
    Patience.eventually(() -> {
      clock.advance(LIMIT);
      return result.isDone();
    });
  }

  /** The store confirms the request when half of the limit has passed. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void timeToStoreRequestCountsAgainstItsLimit(boolean isAsk) {
    var slowStore = Intercepted.of(StoreBackend.class, memory, (method, arguments, call) -> {
      if (method.getName().equals("enqueue")) clock.advance(LIMIT.dividedBy(2));
      return call.pass();
    });
    var ada = KIND.storeMessages(9).state("").handler((items, add, context) -> {
      context.replyWhen(add, new CompletableFuture<>());
      return items;
    }).newActor(scope.named("ada"), slowStore);
    var askFailure = new CompletableFuture<Throwable>();
    var asker = Patience.startFiber(() -> {
      if (isAsk) askFailure.complete(assertThrows(RequestException.class, () -> ada.ask(new Add("a"), LIMIT)));
      else ada.sendMessageReturn(new Add("a"), LIMIT).whenComplete((answer, failure) -> askFailure.complete(failure));
    });
    if (isAsk) Patience.awaitParked(asker); // the request is stored
    else Patience.awaitEnd(asker);
    advanceUntilDone(askFailure);

    ada.kill();
    var timeout = assertInstanceOf(AskTimeoutException.class, askFailure.join().getCause());
    assertEquals(LIMIT, timeout.limit());
    assertTrue(timeout.getMessage().startsWith("10 s of the limit of 20 s passed before it was sent: actor 'ada' did"
        + " not answer Add[item=a] within 10 s: "), timeout::getMessage);
  }

  /** The courier ends when half of the limit has passed. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void timeoutNamesWholeLimitOfRequestHeldForCourier(boolean isAsk) {
    var handled = new CountDownLatch(1);
    var ada = KIND.state("").handler((items, add, context) -> {
      context.replyWhen(add, new CompletableFuture<>());
      handled.countDown();
      return items;
    }).newActor(scope.named("ada"), store);
    SharedStoreAccess.deliverPending(store, ADA);
    Patience.acquire(readsBegun);
    var askFailure = new CompletableFuture<Throwable>();
    var asker = Patience.startFiber(() -> {
      if (isAsk) askFailure.complete(assertThrows(RequestException.class, () -> ada.ask(new Add("a"), LIMIT)));
      else ada.sendMessageReturn(new Add("a"), LIMIT).whenComplete((answer, failure) -> askFailure.complete(failure));
    });
    if (isAsk) Patience.awaitParked(asker);
    else Patience.awaitEnd(asker);
    clock.advance(LIMIT.dividedBy(2));
    mayRead.release(MANY);
    Patience.await(handled);
    advanceUntilDone(askFailure);

    ada.kill();
    var timeout = assertInstanceOf(AskTimeoutException.class, askFailure.join());
    assertEquals(LIMIT, timeout.limit());
    assertTrue(timeout.getMessage().startsWith("10 s of the limit of 20 s passed"), timeout::getMessage);
  }

  /** The first courier waits for capacity in the mailbox while the next courier reads. */
  @Test
  void requestsKeepOrderAcrossConsecutiveCouriers() {
    var released = new CopyOnWriteArrayList<String>();
    var firstIsReleased = new CountDownLatch(1);
    var capacity = new CountDownLatch(1);
    try (var delivery = new PendingDelivery(store, (DefaultDurableBuilder<Add>) KIND,
        BlockBuilder.of(scope.anonymous()), key -> true)) {
      startRead(delivery);
      orderBarrier(delivery).thenRun(() -> {
        firstIsReleased.countDown();
        Patience.await(capacity);
      }).thenRun(() -> released.add("first"));
      orderBarrier(delivery).thenRun(() -> released.add("second"));
      readsFail = true;
      mayRead.release();
      Patience.await(firstIsReleased); // otherwise the next courier would release all three requests
      awaitNextRead();
      orderBarrier(delivery).thenRun(() -> released.add("third"));

      readsFail = false;
      mayRead.release();
      Patience.acquire(couriersEnded);
      capacity.countDown();

      Patience.eventually(() -> released.size() >= 3);
      assertEquals(List.of("first", "second", "third"), released);
    }
  }

  @Test
  void failedReadIsRetriedDespiteEarlierDueMessage() {
    try (var delivery = new PendingDelivery(store, (DefaultDurableBuilder<Add>) KIND,
        BlockBuilder.of(scope.anonymous()), key -> true)) {
      delivery.start(key -> null);
      delivery.onMessageStored("ada", Instant.EPOCH.plusMillis(500));
      delivery.onMessageStored("ada", Instant.MIN);
      Patience.acquire(readsBegun);
      var barrier = orderBarrier(delivery);
      readsFail = true;
      mayRead.release();
      Patience.value(barrier);

      readsFail = false;
      mayRead.release(MANY);
      clock.advance(Duration.ofMillis(500));
      clock.advance(Duration.ofMillis(500));

      Patience.acquire(readsBegun);
    }
  }

  /** The store's clock may be code of a user, which may wait for a lock that a sender holds. */
  @Test
  void clockOfStoreIsReadWithoutMonitor() {
    var lockedReads = new AtomicInteger();
    try (var delivery = new PendingDelivery(store, (DefaultDurableBuilder<Add>) KIND,
        BlockBuilder.of(scope.anonymous()), key -> true)) {
      onClockRead = () -> {
        if (Thread.holdsLock(delivery)) lockedReads.incrementAndGet();
      };
      readsFail = true;
      startRead(delivery);
      var barrier = orderBarrier(delivery);
      mayRead.release();
      Patience.value(barrier); // the courier has failed, and another is planned
      readsFail = false;
      mayRead.release();
      awaitNextRead();
      Patience.acquire(couriersEnded);

      assertEquals(0, lockedReads.get());
    }
  }

  @Test
  void requestsHeldForCourierAreSentIfClockFails() {
    try (var delivery = new PendingDelivery(store, (DefaultDurableBuilder<Add>) KIND,
        BlockBuilder.of(scope.anonymous()), key -> true)) {
      startRead(delivery);
      var barrier = orderBarrier(delivery);
      readsFail = true;
      onClockRead = () -> {
        throw new IllegalStateException("planned");
      };
      mayRead.release();
      Patience.value(barrier);

      readsFail = false;
      onClockRead = () -> {};
      mayRead.release();
      delivery.onMessageStored("ada", Instant.MIN);
      Patience.acquire(readsBegun);
    }
  }

  @Test
  void courierIsStartedAgainThoughClockFailedOnce() {
    try (var logged = new Logged();
        var delivery = new PendingDelivery(store, (DefaultDurableBuilder<Add>) KIND,
            BlockBuilder.of(scope.anonymous()), key -> true)) {
      startRead(delivery);
      var barrier = orderBarrier(delivery);
      readsFail = true;
      onClockRead = () -> {
        onClockRead = () -> {};
        throw new IllegalStateException("planned");
      };
      mayRead.release();
      Patience.value(barrier);
      readsFail = false;

      awaitNextRead();

      assertTrue(logged.text().contains("planned"), logged::text);
    }
  }

  /** Returns when a courier reads. No actor is needed, because the store has no messages for it. */
  private void startRead(PendingDelivery delivery) {
    delivery.start(key -> null);
    delivery.onMessageStored("ada", Instant.MIN);
    Patience.acquire(readsBegun);
  }

  private CompletableFuture<Void> orderBarrier(PendingDelivery delivery) {
    return delivery.orderBarrier("ada");
  }

  private void awaitNextRead() {
    Patience.eventually(() -> {
      clock.advance(Duration.ofSeconds(1));
      return readsBegun.tryAcquire();
    });
  }
}
