package io.fibry.nats;

import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.pubsub.Subscription;
import io.fibry.store.Store;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** A connection to NATS. */
final class NatsTransport implements ClusterTransport {
  private final NatsConnection link;
  private final ProgramMessaging messages;
  private final NatsTable table;
  private final Supplier<Store> opening;
  private final Supplier<JetStreamLog> working;
  private final ReentrantLock storing = new ReentrantLock();
  private Optional<Store> store = Optional.empty(); // under the lock; opened when it is needed
  private Optional<JetStreamLog> work = Optional.empty(); // likewise

  NatsTransport(NatsConnection link, NatsTable table, Supplier<Store> opening, Supplier<JetStreamLog> working) {
    this.link = link;
    this.messages = new ProgramMessaging(link);
    this.table = table;
    this.opening = opening;
    this.working = working;
    link.onReconnected(table::reconnected);
    TableDirectory.begin(messages, table, link.program().app());
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
    storing.lock();
    try {
      if (work.isEmpty()) work = Optional.of(working.get());
      return new NatsQueue(link, work.get(), subject, maxBodyBytes());
    } finally {
      storing.unlock();
    }
  }

  @Override
  public Optional<String> connectionProblem() {
    return link.trouble();
  }

  @Override
  public int maxBodyBytes() {
    return messages.mostBytes();
  }

  @Override
  public Store store() {
    storing.lock();
    try {
      if (store.isEmpty()) store = Optional.of(opening.get());
      return store.get();
    } finally {
      storing.unlock();
    }
  }

  @Override
  public void close() {
    storing.lock();
    try {
      store.ifPresent(Store::close);
    } finally {
      storing.unlock();
      table.close();
      link.close();
    }
  }
}
