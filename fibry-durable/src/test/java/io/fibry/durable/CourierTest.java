package io.fibry.durable;

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
import io.fibry.spi.BlockBuilder;
import io.fibry.store.MemoryStore;
import io.fibry.store.Store;
import io.fibry.store.StoreReadException;
import io.fibry.support.Intercepted;
import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests that wait since a courier looks at what waits for their actor. */
class CourierTest {
  record Add(String item) implements Request<Add, String> {}

  private static final Store.ActorId ADA = new Store.ActorId("list", "ada");
  private static final Duration IDLE = Duration.ofDays(1);
  private static final int MANY = 1_000;
  private static final Duration LIMIT = Duration.ofSeconds(20); // of an ask, by the clock of the scope
  private static final Durable.Builder<Add> KIND = Durable.kind("list", Add.class);
  private static final Durable<Add> LIST = KIND.storeMessages(9).state("").handler((items, add, context) -> {
    context.reply(add, items + add.item());
    return items + add.item();
  });

  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope =
      ActorSystem.openScope("courier-test", options -> options.withScheduler(clock).withAskLimit(LIMIT));
  private final MemoryStore memory = MemoryStore.open(() -> Instant.EPOCH.plusNanos(clock.nanoTime()));
  private final Semaphore begun = new Semaphore(0); // looks
  private final Semaphore mayLook = new Semaphore(0);
  private final Semaphore over = new Semaphore(0); // couriers
  private volatile boolean fails;
  private final Store store = Intercepted.of(Store.class, memory, (method, given, call) -> {
    if (method.getName().equals("pending") && given.length == 3) look();
    if (method.getName().equals("nextDueTime")) over.release();
    return call.pass();
  });

  @AfterEach
  void close() {
    mayLook.release(MANY);
    scope.close();
  }

  private void look() {
    begun.release();
    mayLook.acquireUninterruptibly();
    if (fails) throw new StoreReadException("made up, for a test", null);
  }

  /**
   * A request that was sent before an end is answered before it, even if it waits for other
   * messages.
   */
  private void assertAnswered(Exitable made, Actor<Add> ada, Consumer<Exitable> end) {
    SharedStoreAccess.deliverPending(store, ADA);
    Patience.acquired(begun);
    var answer = ada.sendMessageReturn(new Add("a"));

    end.accept(made);
    mayLook.release(MANY);

    assertEquals("a", Patience.value(answer));
    Patience.ended(made::waitForExit);
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
  void closeWaitsForAnswersOfWaitingRequests() {
    var lists = LIST.entities(scope.anonymous(), store, IDLE);
    assertAnswered(lists, lists.actor("ada"), one -> Thread.startVirtualThread(one::close));
  }

  @Test
  void closingHandlerDoesNotWaitForWaitingRequests() {
    var waiting = new CompletableFuture<CompletableFuture<String>>();
    var ada = KIND.state("").handler((items, add, context) -> {
      if (add.item().equals("close")) {
        SharedStoreAccess.deliverPending(store, ADA);
        Patience.acquired(begun);
        waiting.complete(context.self().sendMessageReturn(new Add("a")));
        context.self().close();
        mayLook.release(MANY);
      }
      context.reply(add, add.item());
      return items;
    }).newActor(scope.named("ada"), store);

    assertEquals("close", ada.ask(new Add("close")));

    assertEquals("a", Patience.value(waiting.join()));
    Patience.ended(ada::waitForExit);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void waitingAskRespectsAskLimitOfScope(boolean keeps) {
    var kind = keeps ? LIST : KIND.state("").handler((String items, Add add, DurableContext<Add> context) -> items);
    var ada = kind.newActor(scope.named("ada"), store);
    SharedStoreAccess.deliverPending(store, ADA);
    Patience.acquired(begun);
    var late = new CompletableFuture<RequestException>();
    var future = ada.sendMessageReturn(new Add("b"), LIMIT);
    Patience.startFiber(() -> late.complete(assertThrows(RequestException.class, () -> ada.ask(new Add("a")))));

    Patience.eventually(() -> {
      clock.advance(LIMIT);
      return late.isDone();
    });

    for (var failure : List.of(late.join(), Patience.failure(future))) {
      var told = assertInstanceOf(AskTimeoutException.class, keeps ? failure.getCause() : failure);
      assertEquals(LIMIT, told.waited());
      assertTrue(told.getMessage().endsWith("come first"), told::getMessage);
      assertEquals(keeps, failure instanceof RequestStoredException);
    }
    ada.kill();
  }

  /** The courier before may wait for room in the mailbox when the next one looks. */
  @Test
  void requestsKeepOrderAcrossConsecutiveCouriers() {
    var gone = new CopyOnWriteArrayList<String>();
    var waits = new CountDownLatch(1);
    var room = new CountDownLatch(1);
    try (var delivery = new PendingDelivery(store, (DefaultDurableBuilder<Add>) KIND,
        BlockBuilder.of(scope.anonymous()), key -> true)) {
      delivery.start(none -> null); // the actor has no waiting messages
      delivery.onMessageStored("ada", Instant.MIN);
      Patience.acquired(begun);
      order(delivery).thenRun(() -> {
        waits.countDown();
        Patience.await(room);
      }).thenRun(() -> gone.add("first"));
      order(delivery).thenRun(() -> gone.add("second"));
      fails = true;
      mayLook.release();
      Patience.await(waits); // or the next courier would let all three go
      eventuallyLooksAgain();
      order(delivery).thenRun(() -> gone.add("third"));

      fails = false;
      mayLook.release();
      Patience.acquired(over);
      room.countDown();

      Patience.eventually(() -> gone.size() >= 3);
      assertEquals(List.of("first", "second", "third"), gone);
    }
  }

  @Test
  void nextCourierRunsAfterFailureDespiteEarlierDueTime() {
    try (var delivery = new PendingDelivery(store, (DefaultDurableBuilder<Add>) KIND,
        BlockBuilder.of(scope.anonymous()), key -> true)) {
      delivery.start(none -> null);
      delivery.onMessageStored("ada", Instant.EPOCH.plusMillis(500));
      delivery.onMessageStored("ada", Instant.MIN);
      Patience.acquired(begun);
      var failed = order(delivery);
      fails = true;
      mayLook.release();
      Patience.value(failed);

      fails = false;
      mayLook.release(MANY);
      clock.advance(Duration.ofMillis(500));
      clock.advance(Duration.ofMillis(500));

      Patience.acquired(begun);
    }
  }

  private CompletableFuture<Void> order(PendingDelivery delivery) {
    return delivery.orderBarrier("ada");
  }

  private void eventuallyLooksAgain() {
    Patience.eventually(() -> {
      clock.advance(Duration.ofSeconds(1));
      return begun.tryAcquire();
    });
  }
}
