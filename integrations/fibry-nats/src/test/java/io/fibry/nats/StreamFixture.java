package io.fibry.nats;

import io.fibry.nats.FaultyStores.One;
import io.fibry.store.Store;
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

/** A store in a stream of its own, which may fail, and a client that looks at it. */
abstract class StreamFixture {
  final String app = Servers.app();
  final NatsNetwork network = Servers.network();
  final StoreSubjects subjects = new StoreSubjects(app);
  private final List<One> opened = new ArrayList<>();
  final Connection tools = tools();
  final One faulty = open();
  final Store store = faulty.store();

  private static Connection tools() {
    try {
      return Nats.connect(Servers.shared().url());
    } catch (Exception failure) {
      throw new IllegalStateException(failure);
    }
  }

  One open() {
    return open(Patience.LONG);
  }

  One open(Duration limit) {
    opened.add(FaultyStores.open(network, app, options -> options.withRequestLimit(limit)));
    return opened.getLast();
  }

  @AfterEach
  void close() throws Exception {
    for (var one : opened) one.store().close();
    tools.close();
  }

  JetStreamManagement streams() throws Exception {
    return tools.jetStreamManagement();
  }

  long messages(String filter) {
    try {
      return streams().getStreamInfo(subjects.streamName(), StreamInfoOptions.filterSubjects(filter)).getStreamState()
          .getSubjectMap().values().stream().mapToLong(Long::longValue).sum();
    } catch (Exception failure) {
      throw new IllegalStateException(failure);
    }
  }

  static Store.PendingMessage message(Store.ActorId to, String id) {
    return new Store.PendingMessage(to, id, Instant.EPOCH, new byte[] {1});
  }

  static Store.Turn sending(Store.ActorId from, long life, long number, List<String> done,
      Store.PendingMessage... sends) {
    return new Store.Turn(from, life, number, Instant.now(), false, new byte[] {(byte) number}, done, List.of(sends));
  }

  List<String> waiting(Store.ActorId actor) {
    return store.pending(actor, Instant.MAX, 99).stream().map(Store.PendingMessage::id).toList();
  }
}
