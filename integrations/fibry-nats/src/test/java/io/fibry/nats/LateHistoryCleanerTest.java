package io.fibry.nats;

import io.fibry.nats.NatsNetwork.Role;
import io.fibry.store.Store;
import io.fibry.store.ViewOffset;
import io.fibry.support.Patience;
import io.fibry.test.NatsServer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** A node whose views move while no keeper is there to delete what they have passed. */
class LateHistoryCleanerTest {
  private static final Store.ActorId X = new Store.ActorId("counter", "x");
  private static final Store.ActorId VIEW = new ViewOffset("counter", "v", "").actor();

  private static void append(Store store, Store.ActorId id, long life, long number, boolean ends, String body) {
    var turn = new Store.Turn(id, life, number, Instant.EPOCH, ends, body.getBytes(StandardCharsets.UTF_8), List.of(),
        List.of());
    (ends && id.equals(X) ? store.end(turn) : store.append(turn)).toCompletableFuture().join();
  }

  private static String lastPlace(Store store) {
    var places = read(store);
    return places.isEmpty() ? "" : places.getLast().offset();
  }

  private static List<Store.StoredTurn> read(Store store) {
    try (var history = store.history("counter", "")) {
      return history.poll();
    } catch (InterruptedException interrupt) {
      throw new AssertionError(interrupt);
    }
  }

  @Test
  void lateKeeperDeletesTurnsPassedByView() {
    Servers.assumeThere();
    try (var server = NatsServer.start(Servers.folder(), "")) {
      var network = NatsNetwork.connectTo(server.url());
      NatsStore.open(network, "bank").close(); // a keeper makes the stream
      try (var node = NatsStore.open(network.withRole(Role.NODE), "bank")) {
        long life = node.load(X).life();
        long lifeOfView = node.load(VIEW).life();
        append(node, VIEW, lifeOfView, 1, true, "");
        for (int i = 1; i <= 3; i++) append(node, X, life, i, false, "turn");
        append(node, X, life, 4, true, "end");
        for (int i = 2; i < 5; i++) append(node, VIEW, lifeOfView, i, true, lastPlace(node)); // it cannot delete

        try (var keeper = NatsStore.open(network, "bank")) {
          var next = new AtomicLong(5);
          Patience.eventually(() -> {
            append(node, VIEW, lifeOfView, next.getAndIncrement(), true, lastPlace(node));
            return read(keeper).size() == 1;
          });
        }
      }
    }
  }
}
