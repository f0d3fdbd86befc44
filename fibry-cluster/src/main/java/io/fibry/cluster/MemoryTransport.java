package io.fibry.cluster;

import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.pubsub.Subscription;
import io.fibry.store.Store;
import io.fibry.text.Lines;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/** A node's connection to a {@link MemoryNetwork}. */
final class MemoryTransport implements ClusterTransport {
  private final MemoryNetwork network;
  private final MemoryTable table;
  private final Store store;
  private final Set<Subscription> open = Collections.synchronizedSet(new LinkedHashSet<>());
  private final Set<CompletableFuture<WireMessage>> pendingRequests =
      Collections.synchronizedSet(new LinkedHashSet<>());
  private volatile boolean closed;

  MemoryTransport(MemoryNetwork network, MemoryTable table, Store store) {
    this.network = network;
    this.table = table;
    this.store = new NodeStore(store);
  }

  @Override
  public void publish(WireMessage message) {
    message.checkSize(maxBodyBytes());
    checkOpen();
    network.send(message);
  }

  @Override
  public CompletionStage<WireMessage> request(WireMessage message, Duration limit) {
    message.checkSize(maxBodyBytes());
    var answer = new CompletableFuture<WireMessage>();
    pendingRequests.add(answer);
    answer.whenComplete((wire, failure) -> pendingRequests.remove(answer));
    if (closed) answer.completeExceptionally(cutException());
    else network.request(message, limit, answer);
    if (closed) closeWaiting(answer); // it may have been overlooked
    return answer;
  }

  private static void closeWaiting(CompletableFuture<WireMessage> answer) {
    answer.completeExceptionally(
        new TransportException(TransportException.Failure.UNKNOWN, "the connection was closed before an answer came"));
  }

  boolean isClosed() {
    return closed;
  }

  void checkOpen() {
    if (closed) throw cutException();
  }

  private static TransportException cutException() {
    return new TransportException(TransportException.Failure.DISCONNECTED, "the connection is closed");
  }

  @Override
  public Subscription subscribe(String subject, Optional<String> group, Consumer<WireMessage> reader) {
    checkOpen();
    return opened(network.subscribe(subject, group, reader));
  }

  /** It ends with this connection. */
  Subscription opened(Subscription one) {
    var both = new Subscription() {
      @Override
      public void close() {
        open.remove(this);
        one.close();
      }
    };
    open.add(both);
    if (closed) both.close(); // it may have been overlooked
    return both;
  }

  // ---- the table

  @Override
  public OptionalLong create(String key, byte[] value, Duration lease) {
    checkOpen();
    return table.create(key, value, lease);
  }

  @Override
  public OptionalLong update(String key, byte[] value, long version, Duration lease) {
    checkOpen();
    return table.update(key, value, version, lease);
  }

  @Override
  public boolean delete(String key, long version) {
    checkOpen();
    return table.delete(key, version);
  }

  @Override
  public Optional<Entry> get(String key) {
    checkOpen();
    return table.get(key);
  }

  @Override
  public Subscription watch(String prefix, Consumer<Entry> reader) {
    checkOpen();
    return opened(table.watch(prefix, reader));
  }

  @Override
  public Store store() {
    return store;
  }

  @Override
  public Queue queue(String subject) {
    checkOpen();
    return network.queue(subject).of(this);
  }

  @Override
  public Optional<String> connectionProblem() {
    return closed ? Optional.of(Lines.message(cutException())) : Optional.empty();
  }

  @Override
  public int maxBodyBytes() {
    return network.maxBytes();
  }

  @Override
  public void close() {
    closed = true;
    store.close();
    List.copyOf(open).forEach(Subscription::close);
    List.copyOf(pendingRequests).forEach(MemoryTransport::closeWaiting);
  }
}
