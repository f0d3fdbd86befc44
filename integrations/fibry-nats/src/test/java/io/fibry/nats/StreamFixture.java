package io.fibry.nats;

import io.fibry.nats.FaultyStores.FaultyStore;
import io.fibry.nats.connection.StoreSubjects;
import io.fibry.store.Store;
import io.fibry.store.spi.StoreBackend;
import io.fibry.support.Patience;
import io.nats.client.Connection;
import io.nats.client.JetStreamManagement;
import io.nats.client.Nats;
import io.nats.client.api.StreamInfoOptions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;

/** Provides a store with its own stream, the faults of the store, and a client of its server. */
public abstract class StreamFixture {
  final String app = Servers.app();
  final NatsNetwork network = Servers.network();
  protected final StoreSubjects subjects = new StoreSubjects(app);
  private final List<FaultyStore> opened = new ArrayList<>();
  final Connection client = tools();
  protected final FaultyStore faulty = open();
  protected final StoreBackend store = faulty.store();

  private static Connection tools() {
    try {
      return Nats.connect(Servers.shared().url());
    } catch (Exception failure) {
      throw new IllegalStateException(failure);
    }
  }

  protected final FaultyStore open() {
    return open(Patience.LONG);
  }

  final FaultyStore open(Duration limit) {
    opened.add(FaultyStores.open(network, app, options -> options.withRequestLimit(limit)));
    return opened.getLast();
  }

  @AfterEach
  void close() throws Exception {
    for (var faultyStore : opened) faultyStore.store().close();
    client.close();
  }

  JetStreamManagement management() throws Exception {
    return client.jetStreamManagement();
  }

  protected long countMessages(String filter) {
    try {
      return management().getStreamInfo(subjects.streamName(), StreamInfoOptions.filterSubjects(filter))
          .getStreamState()
          .getSubjectMap().values().stream().mapToLong(Long::longValue).sum();
    } catch (Exception failure) {
      throw new IllegalStateException(failure);
    }
  }

  protected static StoreBackend.PendingMessage message(Store.ActorId receiver, String id) {
    return new StoreBackend.PendingMessage(receiver, id, Instant.EPOCH, new byte[] {1});
  }

  static StoreBackend.Turn turnWithMessages(Store.ActorId actor, long life, long number, List<String> handledIds,
      StoreBackend.PendingMessage... messages) {
    return new StoreBackend.Turn(actor, life, number, Instant.now(), false, new byte[] {(byte) number}, handledIds,
        List.of(messages));
  }

  List<String> pendingIds(Store.ActorId actor) {
    return store.pending(actor, Instant.MAX, 99).stream().map(StoreBackend.PendingMessage::id).toList();
  }
}
