package io.fibry.nats;

import io.fibry.cluster.TransportException.Failure;
import io.fibry.cluster.TransportException;
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
  private static final Duration PATIENCE = Duration.ofSeconds(5); // with one answer

  private final NatsConnection link;
  private final ProgramMessaging messages;
  private final ClientIdentity program;
  private final String nodes; // the beginning of their keys
  private final String self; // key of this node

  AskOnlyTransport(NatsConnection link) {
    this.link = link;
    this.messages = new ProgramMessaging(link);
    this.program = link.program();
    this.nodes = TableDirectory.keys(program.app());
    this.self = nodes + program.node();
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
    String app = "fb." + program.app();
    if (subject.startsWith(program.answers())) return messages.subscribe(subject, group, reader);
    if (subject.equals(app + ".c") || subject.equals(app + ".x." + program.node())) return () -> {};
    throw program.denied("subscribe to " + subject, Role.NODE);
  }

  // ---- the table

  @Override
  public OptionalLong create(String key, byte[] value, Duration lease) {
    if (key.equals(self)) return beat(0);
    if (get(key).isPresent()) return OptionalLong.empty();
    throw new TransportException(Failure.DENIED,
        "the table of app '" + program.app() + "' has no entry '" + key + "', and "
            + program + " cannot make it; start a node with the role NODE first, which does");
  }

  @Override
  public OptionalLong update(String key, byte[] value, long version, Duration lease) {
    if (key.equals(self)) return beat(version);
    throw program.denied("change entry '" + key + "' of the table", Role.NODE);
  }

  private OptionalLong beat(long version) {
    connectionProblem().ifPresent(why -> {
      throw new TransportException(Failure.DISCONNECTED, why);
    });
    return OptionalLong.of(version + 1);
  }

  @Override
  public boolean delete(String key, long version) {
    if (key.equals(self)) return true;
    throw program.denied("delete entry '" + key + "' of the table", Role.NODE);
  }

  @Override
  public Optional<Entry> get(String key) {
    return ask(Optional.of(key)).stream().findFirst();
  }

  /** {@return the entry of a key, or the entries of all nodes} */
  List<Entry> ask(Optional<String> key) {
    var question = WireMessage.to(TableDirectory.subject(program.app()), Map.of(), TableDirectory.question(key));
    try {
      var answer = JetStreamLog.answer(messages.request(question, PATIENCE).toCompletableFuture());
      return TableDirectory.rows(answer).stream().map(TableDirectory.Row::entry).toList();
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw new TransportException(Failure.UNKNOWN, program + " was interrupted while a node read the table for it");
    } catch (ExecutionException failed) {
      throw failed.getCause() instanceof TransportException lost && lost.failure() != Failure.NO_RECEIVER ? lost
          : new TransportException(Failure.NO_RECEIVER,
              "no node of app '" + program.app() + "' reads the table for " + program
                  + "; start one with the role NODE or KEEPER");
    }
  }

  @Override
  public Subscription watch(String prefix, Consumer<Entry> reader) {
    if (prefix.equals(nodes)) return TablePoller.begin(() -> ask(Optional.empty()), reader);
    throw program.denied("host entities", Role.NODE);
  }

  // ---- what it does not have

  @Override
  public Store store() {
    throw program.denied("use the store", Role.NODE);
  }

  @Override
  public Queue queue(String subject) {
    throw program.denied("use queue " + subject, Role.NODE);
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
  public void close() {
    link.close();
  }
}
