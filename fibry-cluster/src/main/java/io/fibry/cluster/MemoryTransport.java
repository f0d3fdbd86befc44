package io.fibry.cluster;

import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.pubsub.Subscription;
import io.fibry.store.Store;
import io.fibry.store.spi.StoreBackend;
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
  private final Set<Subscription> subscriptions = Collections.synchronizedSet(new LinkedHashSet<>());
  private final Set<CompletableFuture<WireMessage>> pendingRequests =
      Collections.synchronizedSet(new LinkedHashSet<>());
  private volatile boolean isClosed;

  MemoryTransport(MemoryNetwork network, MemoryTable table, Store store) {
    this.network = network;
    this.table = table;
    this.store = new CloseShieldStore(StoreBackend.of(store));
  }

  @Override
  public void publish(WireMessage message) {
    message.checkSize(maxBodyBytes());
    checkOpen();
    network.send(message);
  }

  /** Returns true: a message is added to the unbounded mailboxes of its subscribers. */
  @Override
  public boolean publishesWithoutWait() {
    return true;
  }

  @Override
  public boolean isOfOnlyNode() {
    return network.isForOneNode();
  }

  @Override
  public boolean isRead(String subject) {
    return network.isRead(subject);
  }

  @Override
  public CompletionStage<WireMessage> request(WireMessage message, Duration limit) {
    message.checkSize(maxBodyBytes());
    var answer = new CompletableFuture<WireMessage>();
    pendingRequests.add(answer);
    answer.whenComplete((wire, failure) -> pendingRequests.remove(answer));
    if (isClosed) answer.completeExceptionally(closedException());
    else network.request(message, limit, answer);
    if (isClosed) failPending(answer); // close() may have missed this future
    return answer;
  }

  private static void failPending(CompletableFuture<WireMessage> answer) {
    answer.completeExceptionally(
        new TransportException(TransportException.Failure.UNKNOWN, "the connection was closed before an answer came"));
  }

  boolean isClosed() {
    return isClosed;
  }

  void checkOpen() {
    if (isClosed) throw closedException();
  }

  private static TransportException closedException() {
    return new TransportException(TransportException.Failure.DISCONNECTED, "the connection is closed");
  }

  @Override
  public Subscription subscribe(String subject, Optional<String> group, Consumer<WireMessage> reader) {
    checkOpen();
    return register(network.subscribe(subject, group, reader));
  }

  /** Returns a subscription that also ends with this connection. */
  Subscription register(Subscription subscription) {
    var registered = new Subscription() {
      @Override
      public void close() {
        subscriptions.remove(this);
        subscription.close();
      }
    };
    subscriptions.add(registered);
    if (isClosed) registered.close(); // close() may have missed this subscription
    return registered;
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
    return register(table.watch(prefix, reader));
  }

  @Override
  public Store store() {
    return store;
  }

  @Override
  public Queue queue(String subject) {
    checkOpen();
    return network.queue(subject).viewFor(this);
  }

  @Override
  public Optional<String> connectionProblem() {
    return isClosed ? Optional.of(Lines.message(closedException())) : Optional.empty();
  }

  @Override
  public int maxBodyBytes() {
    return network.maxBytes();
  }

  @Override
  public void close() {
    isClosed = true;
    store.close();
    List.copyOf(subscriptions).forEach(Subscription::close);
    List.copyOf(pendingRequests).forEach(MemoryTransport::failPending);
  }
}
