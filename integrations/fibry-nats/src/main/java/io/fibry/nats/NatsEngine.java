package io.fibry.nats;

import io.fibry.cluster.Engine;
import io.fibry.cluster.LostException;
import io.fibry.cluster.LostException.Loss;
import io.fibry.cluster.Wire;
import io.fibry.pubsub.Subscription;
import io.fibry.time.Scheduler;
import io.nats.client.Connection;
import io.nats.client.Dispatcher;
import io.nats.client.JetStreamStatusException;
import io.nats.client.Message;
import io.nats.client.impl.NatsMessage;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.slf4j.LoggerFactory;

/** A connection to NATS. */
final class NatsEngine implements Engine {
  private static final int HEADERS = 8 << 10; // bytes for them, of the limit of a message
  private static final Duration PATIENCE = Duration.ofSeconds(5); // with the server

  /** A request without an answer so far. */
  private record Asked(String subject, CompletableFuture<Wire> answer) {}

  private final Connection connection;
  private final NatsTable table;
  private final Set<Asked> asked = ConcurrentHashMap.newKeySet();

  NatsEngine(Connection connection, NatsTable table, Troubles troubles) {
    this.connection = connection;
    this.table = table;
    troubles.onDenied(this::denied);
  }

  // ---- messages

  @Override
  public void publish(Wire message) {
    var checked = checked(message);
    uninterrupted(message.subject(), () -> connection.publish(checked));
  }

  @Override
  public CompletionStage<Wire> request(Wire message, Duration limit) {
    var checked = checked(message);
    var one = new Asked(message.subject(), new CompletableFuture<>());
    asked.add(one);
    var timer = Scheduler.system().after(limit, () -> one.answer.completeExceptionally(
        new LostException(Loss.LATE, "no answer from " + message.subject() + " came in time")));
    one.answer.whenComplete((wire, failure) -> {
      asked.remove(one);
      timer.cancel();
    });
    try {
      uninterrupted(message.subject(), () -> connection.requestWithTimeout(checked, limit)
          .whenComplete((wire, failure) -> tell(one, wire, failure)));
    } catch (LostException lost) {
      one.answer.completeExceptionally(lost);
    }
    return one.answer;
  }

  private static void tell(Asked one, Message answer, Throwable failure) {
    if (failure == null) one.answer.complete(Envelope.open(answer));
    else if (failure instanceof JetStreamStatusException) one.answer.completeExceptionally(
        new LostException(Loss.NOBODY, "nobody gets messages to " + one.subject));
    else if (!(failure instanceof TimeoutException)) one.answer.completeExceptionally(closed(one)); // the timer tells
  }

  private static LostException closed(Asked one) {
    return new LostException(Loss.UNKNOWN, "the connection was closed before an answer came from " + one.subject);
  }

  private void denied(boolean toSend, String subject) {
    if (toSend) asked.stream().filter(one -> one.subject.equals(subject)).forEach(one -> one.answer
        .completeExceptionally(denied("send to " + subject)));
  }

  private static LostException denied(String what) {
    return new LostException(Loss.DENIED, "the server of NATS does not let this program " + what);
  }

  /** With room for its headers, which the server counts, too. */
  private NatsMessage checked(Wire message) {
    if (message.body().length > mostBytes()) throw new IllegalArgumentException("a message to " + message.subject()
        + " has " + message.body().length + " bytes; at most " + mostBytes() + " can be sent");
    var checked = Envelope.of(message);
    long headers = checked.hasHeaders() ? checked.getHeaders().serializedLength() : 0;
    if (headers > HEADERS) throw new IllegalArgumentException(
        "a message to " + message.subject() + " has headers of " + headers + " bytes; at most " + HEADERS
            + " can be sent");
    return checked;
  }

  /** The client drops, without a word, what an interrupted thread sends. */
  private static void uninterrupted(String subject, Runnable sending) {
    boolean interrupted = Thread.interrupted();
    try {
      sending.run();
      if (Thread.currentThread().isInterrupted()) throw new LostException(Loss.UNKNOWN,
          "the thread was interrupted while a message to " + subject + " left");
    } catch (IllegalStateException cut) {
      throw cut("a message to " + subject + " did not leave", cut);
    } finally {
      if (interrupted) Thread.currentThread().interrupt();
    }
  }

  private static LostException cut(String what, Exception why) {
    return new LostException(Loss.CUT, what + ": " + Troubles.text(why));
  }

  @Override
  public Subscription subscribe(String subject, Optional<String> group, Consumer<Wire> reader) {
    try {
      var dispatcher = connection.createDispatcher(message -> reader.accept(Envelope.open(message)));
      connection.clearLastError();
      if (group.isPresent()) dispatcher.subscribe(subject, group.get());
      else dispatcher.subscribe(subject);
      connection.flush(PATIENCE);
      if (isDenied(subject)) throw denied("subscribe to " + subject);
      return () -> drain(dispatcher);
    } catch (IllegalStateException | TimeoutException cut) {
      throw cut("nobody knows whether there is a subscription to " + subject, cut);
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw cut("nobody knows whether there is a subscription to " + subject, interrupt);
    }
  }

  /** The server has answered, and told of an error before. */
  private boolean isDenied(String subject) {
    var error = connection.getLastError();
    return error != null && error.toLowerCase(Locale.ROOT).contains("violation") && error.contains('"' + subject + '"');
  }

  /** Waits until what has arrived is read. */
  private static void drain(Dispatcher dispatcher) {
    boolean interrupted = Thread.interrupted();
    try {
      if (dispatcher.isActive()) dispatcher.drain(PATIENCE).get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    } catch (IllegalStateException | ExecutionException | TimeoutException cut) {
      LoggerFactory.getLogger(NatsNetwork.class).debug("a subscription ended with its connection", cut);
    } catch (InterruptedException again) {
      interrupted = true;
    } finally {
      if (interrupted) Thread.currentThread().interrupt();
    }
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
  public int mostBytes() {
    return (int) Math.min(Integer.MAX_VALUE, connection.getMaxPayload()) - HEADERS;
  }

  @Override
  public void close() {
    NatsNetwork.close(connection);
    asked.forEach(one -> one.answer.completeExceptionally(closed(one)));
  }
}
