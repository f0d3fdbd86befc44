package io.fibry.nats;

import io.fibry.nats.NatsNetwork.Role;
import io.fibry.store.Store;
import io.fibry.store.spi.StoreBackend;
import io.fibry.store.spi.ViewOffset;
import io.fibry.support.Patience;
import io.fibry.test.NatsServer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/**
 * Tests a keeper that starts late. A view has read all turns of an ended actor, so these turns may
 * be deleted. The role of the view's node does not permit deletions, so the keeper must delete the
 * turns.
 */
class LateHistoryCleanerTest {
  private static final Store.ActorId COUNTER_X = new Store.ActorId("counter", "x");
  private static final Store.ActorId VIEW = new ViewOffset("counter", "v", "").actor();

  private static void append(StoreBackend store, Store.ActorId id, long life, long number, boolean isFullState,
      String body) {
    var turn =
        new StoreBackend.Turn(id, life, number, Instant.EPOCH, isFullState, body.getBytes(StandardCharsets.UTF_8),
            List.of(), List.of());
    (isFullState && id.equals(COUNTER_X) ? store.end(turn) : store.append(turn)).toCompletableFuture().join();
  }

  private static String lastOffset(StoreBackend store) {
    var turns = readHistory(store);
    return turns.isEmpty() ? "" : turns.getLast().offset();
  }

  private static List<StoreBackend.StoredTurn> readHistory(StoreBackend store) {
    try (var history = store.history("counter", "")) {
      return history.poll();
    } catch (InterruptedException interrupt) {
      throw new AssertionError(interrupt);
    }
  }

  @Test
  void keeperDeletesTurnsThatViewPassedBeforeKeeperStarted() {
    Servers.assumeInstalled();
    try (var server = NatsServer.start(Servers.folder(), "")) {
      var network = Servers.network(server);
      NatsStore.open(network, "bank").close(); // a keeper creates the stream
      try (var node = StoreBackend.of(NatsStore.open(network.withRole(Role.NODE), "bank"))) {
        long life = node.load(COUNTER_X).life();
        long lifeOfView = node.load(VIEW).life();
        append(node, VIEW, lifeOfView, 1, true, "");
        for (int i = 1; i <= 3; i++) append(node, COUNTER_X, life, i, false, "turn");
        append(node, COUNTER_X, life, 4, true, "end");
        // The node may not delete the turns that the view has passed
        for (int i = 2; i < 5; i++) append(node, VIEW, lifeOfView, i, true, lastOffset(node));

        try (var keeper = StoreBackend.of(NatsStore.open(network, "bank"))) {
          var nextNumber = new AtomicLong(5);
          Patience.eventually(() -> {
            append(node, VIEW, lifeOfView, nextNumber.getAndIncrement(), true, lastOffset(node));
            return readHistory(keeper).size() == 1;
          });
        }
      }
    }
  }
}
