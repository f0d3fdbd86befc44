package io.fibry.durable.turn;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorSystem;
import io.fibry.durable.Durable;
import io.fibry.store.MemoryStore;
import io.fibry.store.spi.StoreBackend;
import io.fibry.support.Intercepted;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
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
}
