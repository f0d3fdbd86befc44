package io.fibry.nats;

import io.fibry.cluster.TransportException;
import io.fibry.cluster.TransportException.Failure;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.nats.NatsNetwork.Role;
import io.fibry.pubsub.Subscription;
import io.fibry.store.Store;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;

/**
 * A connection of a program that can only ask. It reads the table by asking nodes, and writes
 * nothing to it: its own entry exists here only, so the others do not see it as a member. Its
 * heartbeats succeed as long as it is connected.
 */
final class AskOnlyTransport implements ClusterTransport {
  private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(5); // with one answer

  private final NatsConnection connection;
  private final ProgramMessaging messages;
  private final ClientIdentity identity;
  private final String nodes; // the beginning of their keys
  private final String self; // key of this node

  AskOnlyTransport(NatsConnection connection) {
    this.connection = connection;
    this.messages = new ProgramMessaging(connection);
    this.identity = connection.identity();
    this.nodes = TableDirectory.keys(identity.app());
    this.self = nodes + identity.node();
  }

  @Override
  public void publish(WireMessage message) {
    messages.publish(message);
  }

  @Override
  public CompletionStage<WireMessage> request(WireMessage message, Duration limit) {
    return messages.request(message, limit);
  }

  /**
   * The node itself gets no messages, and no requests that others could take back. It hears who has
   * its own requests: without that, they would fail after a lease.
   */
  @Override
  public Subscription subscribe(String subject, Optional<String> group, Consumer<WireMessage> reader) {
    String app = "fb." + identity.app();
    if (subject.startsWith(identity.answers())) return messages.subscribe(subject, group, reader);
    if (subject.equals(app + ".c") || subject.equals(app + ".x." + identity.node())) return () -> {};
    throw identity.denied("subscribe to " + subject, Role.NODE);
  }

  // ---- the table

  @Override
  public OptionalLong create(String key, byte[] value, Duration lease) {
    if (key.equals(self)) return sendHeartbeat(0);
    if (get(key).isPresent()) return OptionalLong.empty();
    throw new TransportException(Failure.DENIED,
        "the table of app '" + identity.app() + "' has no entry '" + key + "', and "
            + identity + " cannot make it; start a node with the role NODE first, which does");
  }

  @Override
  public OptionalLong update(String key, byte[] value, long version, Duration lease) {
    if (key.equals(self)) return sendHeartbeat(version);
    throw identity.denied("change entry '" + key + "' of the table", Role.NODE);
  }

  private OptionalLong sendHeartbeat(long version) {
    connectionProblem().ifPresent(why -> {
      throw new TransportException(Failure.DISCONNECTED, why);
    });
    return OptionalLong.of(version + 1);
  }

  @Override
  public boolean delete(String key, long version) {
    if (key.equals(self)) return true;
    throw identity.denied("delete entry '" + key + "' of the table", Role.NODE);
  }

  @Override
  public Optional<Entry> get(String key) {
    return query(Optional.of(key)).stream().findFirst();
  }

  /** {@return the entry of a key, or the entries of all nodes} */
  List<Entry> query(Optional<String> key) {
    var question = WireMessage.to(TableDirectory.subject(identity.app()), Map.of(), TableDirectory.question(key));
    try {
      var answer = JetStreamLog.answer(messages.request(question, ANSWER_TIMEOUT).toCompletableFuture());
      return TableDirectory.rows(answer).stream().map(TableDirectory.Row::entry).toList();
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw new TransportException(Failure.UNKNOWN, identity + " was interrupted while a node read the table for it");
    } catch (ExecutionException failed) {
      throw failed.getCause() instanceof TransportException lost && lost.failure() != Failure.NO_RECEIVER ? lost
          : new TransportException(Failure.NO_RECEIVER,
              "no node of app '" + identity.app() + "' reads the table for " + identity
                  + "; start one with the role NODE or KEEPER");
    }
  }

  @Override
  public Subscription watch(String prefix, Consumer<Entry> reader) {
    if (prefix.equals(nodes)) return TablePoller.begin(() -> query(Optional.empty()), reader);
    throw identity.denied("host entities", Role.NODE);
  }

  // ---- what it does not have

  @Override
  public Store store() {
    throw identity.denied("use the store", Role.NODE);
  }

  @Override
  public Queue queue(String subject) {
    throw identity.denied("use queue " + subject, Role.NODE);
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
  public void close() {
    connection.close();
  }
}
