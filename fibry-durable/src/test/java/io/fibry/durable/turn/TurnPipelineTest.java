package io.fibry.durable.turn;

import static io.fibry.durable.TestTurns.ADA;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.durable.Durable;
import io.fibry.durable.delivery.PendingDelivery;
import io.fibry.durable.kind.DefaultDurableBuilder;
import io.fibry.spi.BlockBuilder;
import io.fibry.store.MemoryStore;
import io.fibry.store.StaleLifeException;
import io.fibry.store.StoreWriteException;
import io.fibry.store.spi.StoreBackend;
import io.fibry.support.Intercepted;
import io.fibry.support.Patience;
import java.util.ArrayDeque;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Tests that a refusal counts only for the life of the refused turn, even if it arrives while the
 * actor begins another life.
 */
class TurnPipelineTest {
  private final ActorScope scope = ActorSystem.openScope("turn-pipeline-test");
  private final ArrayDeque<CompletableFuture<Void>> appends = new ArrayDeque<>(); // results that the tests complete
  private final StoreBackend store =
      Intercepted.of(StoreBackend.class, StoreBackend.of(MemoryStore.open()), (method, arguments, call) -> {
        if (!method.getName().equals("append")) return call.pass();
        appends.add(new CompletableFuture<>());
        return appends.getLast();
      });
  @SuppressWarnings("unchecked") // the builder has messages of this class
  private final PendingDelivery delivery = new PendingDelivery(store,
      (DefaultDurableBuilder<String>) Durable.kind(ADA.kind(), String.class), BlockBuilder.of(scope.anonymous()),
      key -> true);
  private final TurnPipeline turns = new TurnPipeline(delivery, ADA, 9);

  @BeforeEach
  void appendTurn() {
    turns.load();
    turns.append(new byte[] {1}, false, new TurnOutbox(ADA, delivery));
  }

  @AfterEach
  void close() {
    delivery.close();
    scope.close();
  }

  @Test
  void newLifeIgnoresRefusedTurnOfEarlierLife() {
    Thread storeThread;
    synchronized (delivery) {
      storeThread = Thread.ofPlatform().start(() -> appends.getFirst().completeExceptionally(
          new StaleLifeException(ADA, 1)));
      Patience.eventually(() -> storeThread.getState() == Thread.State.BLOCKED); // it waits for delivery's monitor
      turns.load();
    }
    Patience.awaitEnd(storeThread);

    assertFalse(turns.isAnyRefused());
  }

  @Test
  void refusalOfTurnIsReportedUntilNextLoad() {
    appends.getFirst().completeExceptionally(new StoreWriteException("made up, for a test", null));

    assertTrue(turns.isAnyRefused());
    turns.load();
    assertFalse(turns.isAnyRefused());
  }
}
