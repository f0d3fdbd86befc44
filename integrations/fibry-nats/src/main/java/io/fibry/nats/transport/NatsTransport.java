package io.fibry.nats.transport;

import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.nats.connection.NatsConnection;
import io.fibry.nats.stream.JetStreamLog;
import io.fibry.pubsub.Subscription;
import io.fibry.store.Store;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** The transport of a keeper or node, over one connection to NATS. */
public final class NatsTransport implements ClusterTransport {
  private final NatsConnection connection;
  private final ProgramMessaging messages;
  private final NatsTable table;
  private final Supplier<Store> storeFactory;
  private final Supplier<JetStreamLog> queueLogFactory;
  private final ReentrantLock openLock = new ReentrantLock();
  private Optional<Store> store = Optional.empty(); // guarded by openLock; empty until first used
  private Optional<JetStreamLog> queueLog = Optional.empty(); // guarded by openLock; empty until first used

  public NatsTransport(NatsConnection connection, NatsTable table, Supplier<Store> storeFactory,
      Supplier<JetStreamLog> queueLogFactory) {
    this.connection = connection;
    this.messages = new ProgramMessaging(connection);
    this.table = table;
    this.storeFactory = storeFactory;
    this.queueLogFactory = queueLogFactory;
    connection.onReconnected(table::onReconnected);
    TableDirectory.begin(messages, table, connection.identity().app());
  }

  // ---- messages

  @Override
  public void publish(WireMessage message) {
    messages.publish(message);
  }

  @Override
  public CompletionStage<WireMessage> request(WireMessage message, Duration limit) {
    return messages.request(message, limit);
  }

  @Override
  public Subscription subscribe(String subject, Optional<String> group, Consumer<WireMessage> reader) {
    return messages.subscribe(subject, group, reader);
  }

  // ---- the table

  @Override
  public OptionalLong create(String key, byte[] value, Duration lease) {
    return table.create(key, value, lease);
  }

  @Override
  public OptionalLong update(String key, byte[] value, long version, Duration lease) {
    return table.update(key, value, version, lease);
  }

  @Override
  public boolean delete(String key, long version) {
    return table.delete(key, version);
  }

  @Override
  public Optional<Entry> get(String key) {
    return table.get(key);
  }

  @Override
  public Subscription watch(String prefix, Consumer<Entry> reader) {
    return table.watch(prefix, reader);
  }

  @Override
  public Queue queue(String subject) {
    openLock.lock();
    try {
      if (queueLog.isEmpty()) queueLog = Optional.of(queueLogFactory.get());
      return new NatsQueue(connection, queueLog.get(), subject, maxBodyBytes());
    } finally {
      openLock.unlock();
    }
  }

  @Override
  public Optional<String> connectionProblem() {
    return connection.connectionProblem();
  }

  @Override
  public int maxBodyBytes() {
    return messages.maxBytes();
  }

  @Override
  public Store store() {
    openLock.lock();
    try {
      if (store.isEmpty()) store = Optional.of(storeFactory.get());
      return store.get();
    } finally {
      openLock.unlock();
    }
  }

  @Override
  public void close() {
    try (connection; table) {
      openLock.lock();
      try {
        store.ifPresent(Store::close);
      } finally {
        openLock.unlock();
      }
    }
  }
}
