package io.fibry.nats.transport;

import io.fibry.cluster.TransportException;
import io.fibry.cluster.TransportException.Failure;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.nats.NatsNetwork.Role;
import io.fibry.nats.connection.AppClient;
import io.fibry.nats.connection.AppSubjects;
import io.fibry.nats.connection.NatsConnection;
import io.fibry.nats.connection.RequestMultiplexer;
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
 * The transport of an asker. It reads the table by asking nodes, and does not write to the table.
 * Its own entry exists in this object only, so nodes do not see it as a member. Its heartbeats
 * succeed as long as it is connected.
 */
public final class AskOnlyTransport implements ClusterTransport {
  private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(5); // of one question

  private final NatsConnection connection;
  private final ProgramMessaging messages;
  private final AppClient identity;
  private final String nodeKeyPrefix;
  private final String ownKey; // key of this program's entry

  public AskOnlyTransport(NatsConnection connection) {
    this.connection = connection;
    this.messages = new ProgramMessaging(connection);
    this.identity = connection.identity();
    this.nodeKeyPrefix = TableDirectory.nodeKeyPrefix(identity.app());
    this.ownKey = nodeKeyPrefix + identity.node();
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
   * Subscribes to answers, and to keep-alives, by which nodes tell this asker that they have its
   * requests. Without keep-alives, the requests would fail after a lease. Ignores subscriptions for
   * members, because an asker gets no requests.
   */
  @Override
  public Subscription subscribe(String subject, Optional<String> group, Consumer<WireMessage> reader) {
    String app = "fb." + identity.app();
    if (subject.startsWith(identity.replyPrefix())) return messages.subscribe(subject, group, reader);
    if (subject.equals(app + ".c") || subject.equals(app + ".x." + identity.node())) return () -> {};
    throw identity.denied("subscribe to " + subject, Role.NODE);
  }

  // ---- the table

  @Override
  public OptionalLong create(String key, byte[] value, Duration lease) {
    if (key.equals(ownKey)) return sendHeartbeat(0);
    if (get(key).isPresent()) return OptionalLong.empty();
    throw new TransportException(Failure.DENIED,
        "the table of app '" + identity.app() + "' has no entry '" + key + "', and "
            + identity + " cannot create it; start a node with the role NODE first, which creates the entry");
  }

  @Override
  public OptionalLong update(String key, byte[] value, long version, Duration lease) {
    if (key.equals(ownKey)) return sendHeartbeat(version);
    throw identity.denied("change entry '" + key + "' of the table", Role.NODE);
  }

  private OptionalLong sendHeartbeat(long version) {
    connectionProblem().ifPresent(problem -> {
      throw new TransportException(Failure.DISCONNECTED, problem);
    });
    return OptionalLong.of(version + 1);
  }

  @Override
  public boolean delete(String key, long version) {
    if (key.equals(ownKey)) return true;
    throw identity.denied("delete entry '" + key + "' of the table", Role.NODE);
  }

  @Override
  public Optional<Entry> get(String key) {
    return query(Optional.of(key)).stream().findFirst();
  }

  /** {@return the entry of the key, or the entries of all nodes if the key is empty} */
  List<Entry> query(Optional<String> key) {
    var question =
        WireMessage.oneWay(new AppSubjects(identity.app()).directory(), Map.of(), TableDirectory.encodeQuestion(key));
    try {
      var answer = RequestMultiplexer.awaitAnswer(messages.request(question, ANSWER_TIMEOUT).toCompletableFuture());
      return TableDirectory.decodeRows(answer).stream().map(TableDirectory.Row::entry).toList();
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw new TransportException(Failure.UNKNOWN, identity + " was interrupted while a node read the table for it");
    } catch (ExecutionException failure) {
      throw failure.getCause() instanceof TransportException known && known.failure() != Failure.NO_RECEIVER ? known
          : new TransportException(Failure.NO_RECEIVER,
              "no node of app '" + identity.app() + "' reads the table for " + identity
                  + "; start a program with the role NODE or KEEPER");
    }
  }

  @Override
  public Subscription watch(String prefix, Consumer<Entry> reader) {
    if (prefix.equals(nodeKeyPrefix)) return TablePoller.begin(() -> query(Optional.empty()), reader);
    throw identity.denied("host entities", Role.NODE);
  }

  // ---- not permitted

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
