package io.fibry.durable.turn;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorSystem;
import io.fibry.FailurePolicy;
import io.fibry.Request;
import io.fibry.durable.Durable;
import io.fibry.durable.Idempotent;
import io.fibry.store.MemoryStore;
import io.fibry.store.spi.StoreBackend;
import io.fibry.support.Intercepted;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.Test;

/** Tests how a handler waits until the store has a step. */
class StepWaitTest {
  record Work() {}

  /** Without the interrupt, the handler would wait until the store answers. */
  @Test
  void interruptEndsWaitOfStepForStore() {
    var storeAnswers = new CompletableFuture<Void>();
    var appended = new CompletableFuture<Thread>();
    var thrown = new CompletableFuture<Throwable>();
    var store = Intercepted.of(StoreBackend.class, StoreBackend.of(MemoryStore.open()), (method, arguments, call) -> {
      if (!method.getName().equals("append")) return call.pass();
      appended.complete(Thread.currentThread());
      var storing = (CompletionStage<?>) call.pass();
      return storeAnswers.thenCompose(answer -> storing);
    });
    var kind = Durable.kind("work", Work.class).storeMessages(9).state("").handler((state, message, context) -> {
      try {
        return context.step("charge", String.class, () -> "charged");
      } catch (Exception failure) {
        thrown.complete(failure);
        throw failure;
      }
    });
    try (var scope = ActorSystem.openScope("step-waits")) {
      var works = kind.entities(scope.anonymous(), store, Duration.ofDays(1));
      try {
        assertTrue(works.actor("ada").sendMessage(new Work()));
        var handlerThread = Patience.value(appended);
        Patience.eventually(() -> handlerThread.getState() == Thread.State.WAITING);

        handlerThread.interrupt();

        assertInstanceOf(InterruptedException.class, Patience.value(thrown));
      } finally {
        storeAnswers.complete(null);
      }
    }
  }

  record Order(String idempotencyKey, boolean fails) implements Idempotent, Request<Order, String> {}

  /** The store completes the turn of another order only after the replayed step has ended. */
  @Test
  void replayedStepDoesNotWaitForEarlierTurn() {
    var storeAnswers = new AtomicReference<>(CompletableFuture.<Void>completedFuture(null));
    var replayed = new CompletableFuture<String>();
    var store = Intercepted.of(StoreBackend.class, StoreBackend.of(MemoryStore.open()), (method, arguments, call) -> {
      if (!method.getName().equals("append")) return call.pass();
      var storing = (CompletionStage<?>) call.pass();
      return storeAnswers.get().thenCompose(answer -> storing);
    });
    var kind = Durable.kind("orders", Order.class).state("").handler((state, order, context) -> {
      if (order.idempotencyKey.equals("book")) {
        var result = context.step("charge", String.class, () -> "charged");
        if (order.fails) throw new IllegalStateException("planned");
        replayed.complete(result);
      }
      context.reply(order, "done");
      return state;
    });
    try (var scope = ActorSystem.openScope("step-replays")) {
      var orders = kind.newActor(scope.named("ada").onFailure(FailurePolicy.resume().withoutLog()), store);
      assertThrows(IllegalStateException.class, () -> orders.ask(new Order("book", true)));
      storeAnswers.set(new CompletableFuture<>());
      try {
        var hatAnswer = orders.sendMessageReturn(new Order("hat", false));
        var bookAnswer = orders.sendMessageReturn(new Order("book", false));

        assertEquals("charged", Patience.value(replayed));
        assertFalse(hatAnswer.isDone());
        storeAnswers.get().complete(null);
        assertEquals("done", Patience.value(bookAnswer));
      } finally {
        storeAnswers.get().complete(null);
      }
    }
  }

  /** A fiber that cannot register for the end of a turn must still wait for it. */
  @Test
  void stepWaitsForStoreIfItsFiberCannotPark() {
    var registered = new CompletableFuture<Void>();
    var storing = new CompletableFuture<Void>() {
      @Override
      public <U> CompletableFuture<U> newIncompleteFuture() {
        return new CompletableFuture<>() {
          @Override
          public CompletableFuture<U> whenComplete(BiConsumer<? super U, ? super Throwable> action) {
            registered.complete(null);
            throw new OutOfMemoryError("planned");
          }
        };
      }
    };
    var result = new CompletableFuture<String>();
    var store = Intercepted.of(StoreBackend.class, StoreBackend.of(MemoryStore.open()), (method, arguments, call) -> {
      var passed = call.pass();
      return method.getName().equals("append") && !storing.isDone() ? storing : passed;
    });
    var runs = new AtomicInteger();
    var kind = Durable.kind("work", Work.class).storeMessages(9).state("").handler((state, message, context) -> {
      runs.incrementAndGet();
      result.complete(context.step("charge", String.class, () -> "charged"));
      return state;
    });
    try (var scope = ActorSystem.openScope("step-waits")) {
      assertTrue(kind.entities(scope.anonymous(), store, Duration.ofDays(1)).actor("ada").sendMessage(new Work()));
      try {
        Patience.value(registered);
        assertFalse(result.isDone());
      } finally {
        storing.complete(null);
      }

      assertEquals("charged", Patience.value(result));
      assertEquals(1, runs.get()); // the step has not failed
    }
  }
}
