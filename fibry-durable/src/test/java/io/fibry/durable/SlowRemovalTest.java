package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import io.fibry.AskTimeoutException;
import io.fibry.FailurePolicy;
import io.fibry.Request;
import io.fibry.RequestException;
import io.fibry.RequestOutcome;
import io.fibry.store.Store;
import io.fibry.store.spi.StoreBackend;
import io.fibry.support.Intercepted;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/**
 * Tests the outcome of a stored request whose handler threw, while the store has not confirmed the
 * removal of the request.
 */
class SlowRemovalTest extends StoreFixture {
  record Put(String item) implements Request<Put, Integer> {}

  private static final Store.ActorId ADA = new Store.ActorId("list", "ada");

  private final CompletableFuture<Void> turnConfirmation = new CompletableFuture<>();

  SlowRemovalTest() {
    super((folder, clock) -> TestStores.inMemory(clock));
  }

  /** Returns a store that stores turns at once, and confirms them late. */
  private StoreBackend lateConfirmingStore() {
    return Intercepted.of(StoreBackend.class, store, (method, arguments, call) -> {
      var answer = call.pass();
      if (!method.getName().equals("append")) return answer;
      return ((CompletionStage<?>) answer).thenCombine(turnConfirmation, (stored, ignored) -> stored);
    });
  }

  @Test
  void outcomeIsUnknownIfRequestTimesOutWhileStoreRemovesIt() {
    var kind = Durable.kind("list", Put.class).storeMessages(9).state(0L).handler((state, put, context) -> {
      throw new IllegalArgumentException("broken");
    });
    var ada = kind.newActor(scope.named("ada").onFailure(FailurePolicy.resume().withoutLog()), lateConfirmingStore());
    var put = new Put("a");
    var answer = ada.sendMessageReturn(put, Duration.ofSeconds(5));
    eventually(() -> store.pending(ADA, instants().instant(), 9).isEmpty());

    clock.advance(Duration.ofSeconds(6));

    var timeout = assertInstanceOf(AskTimeoutException.class, Patience.failure(answer));
    assertEquals(RequestOutcome.UNKNOWN, RequestException.outcomeOf(timeout, put));
    turnConfirmation.complete(null);
    assertEquals(List.of(), kind.parked(store)); // the failed message was removed, not parked
  }
}
