package io.fibry.nats;

import io.fibry.cluster.TransportException;
import io.fibry.cluster.TransportException.Failure;
import io.fibry.pubsub.Subscription;
import io.fibry.text.Lines;
import io.nats.client.Connection;
import io.nats.client.Dispatcher;
import io.nats.client.MessageHandler;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.LoggerFactory;

/** A connection, with its requests and subscriptions. Thread-safe. */
final class NatsConnection implements AutoCloseable {
  private static final Duration SERVER_TIMEOUT = Duration.ofSeconds(5); // with the server

  private final Connection connection;
  private final RequestMultiplexer requests;
  private final ConnectionErrors errors;
  private final ReentrantLock flushing = new ReentrantLock();

  NatsConnection(Connection connection, ConnectionErrors errors) {
    this.connection = connection;
    this.requests = new RequestMultiplexer(connection, errors.identity().answers());
    this.errors = errors;
    for (var subject : requests.answers()) listen(subject, Optional.empty(), requests::onReply);
    errors.onDenied((toSend, subject) -> {
      if (toSend) requests.onDenied(subject, Lines.message(identity().denied(true, subject)));
    });
  }

  Connection connection() {
    return connection;
  }

  /** {@return the program that is connected} */
  ClientIdentity identity() {
    return errors.identity();
  }

  RequestMultiplexer requests() {
    return requests;
  }

  /** For good. */
  boolean isClosed() {
    return connection.getStatus() == Connection.Status.CLOSED;
  }

  /** Why nothing leaves at the moment. */
  Optional<String> connectionProblem() {
    var status = connection.getStatus();
    return status == Connection.Status.CONNECTED ? Optional.empty()
        : Optional.of("the connection to NATS is " + status.name().toLowerCase(Locale.ROOT));
  }

  /** How many bytes a message may have, with its headers. */
  int maxBytes() {
    return (int) Math.min(Integer.MAX_VALUE, connection.getMaxPayload());
  }

  /** Runs the code after each reconnection. The code must not wait. */
  void onReconnected(Runnable code) {
    errors.onReconnected(code);
  }

  // ---- subscriptions

  Subscription listen(String subject, Optional<String> group, MessageHandler reader) {
    Dispatcher dispatcher = null;
    boolean listens = false;
    try {
      var made = connection.createDispatcher(reader);
      dispatcher = made;
      connection.clearLastError();
      if (group.isPresent()) made.subscribe(subject, group.get());
      else made.subscribe(subject);
      flush(() -> connection.flush(SERVER_TIMEOUT));
      if (isDenied(subject)) throw identity().denied(false, subject);
      listens = true;
      return () -> drain(made);
    } catch (IllegalStateException | TimeoutException cut) {
      throw toTransportException("nobody knows whether there is a subscription to " + subject, cut);
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw toTransportException("nobody knows whether there is a subscription to " + subject, interrupt);
    } finally {
      if (!listens && dispatcher != null) NatsNetwork.close(connection, dispatcher);
    }
  }

  @FunctionalInterface
  private interface FlushAction {
    void run() throws TimeoutException, InterruptedException;
  }

  /** One after the other: the client takes three at once for a server that does not answer. */
  private void flush(FlushAction flush) throws TimeoutException, InterruptedException {
    if (!flushing.tryLock(SERVER_TIMEOUT.toNanos(), TimeUnit.NANOSECONDS))
      throw new TimeoutException("others wait before");
    try {
      flush.run();
    } finally {
      flushing.unlock();
    }
  }

  /** The server has answered, and told of an error before. */
  private boolean isDenied(String subject) {
    var error = connection.getLastError();
    return error != null && error.toLowerCase(Locale.ROOT).contains("violation") && error.contains('"' + subject + '"');
  }

  /** Waits until what has arrived is read. */
  private void drain(Dispatcher dispatcher) {
    boolean interrupted = Thread.interrupted();
    try {
      if (connection.getStatus() != Connection.Status.CONNECTED || !dispatcher.isActive()) {
        NatsNetwork.close(connection, dispatcher);
        return;
      }
      var drained = new CompletableFuture<Boolean>();
      flush(() -> dispatcher.drain(SERVER_TIMEOUT).thenAccept(drained::complete));
      drained.get(SERVER_TIMEOUT.toSeconds(), TimeUnit.SECONDS);
    } catch (IllegalStateException | ExecutionException | TimeoutException cut) {
      LoggerFactory.getLogger(NatsNetwork.class).debug("a subscription ended with its connection", cut);
    } catch (InterruptedException again) {
      interrupted = true;
    } finally {
      if (interrupted) Thread.currentThread().interrupt();
    }
  }

  private static TransportException toTransportException(String what, Exception why) {
    return new TransportException(Failure.DISCONNECTED, what + ": " + ConnectionErrors.text(why));
  }

  /** The outcome of running requests is unknown. */
  @Override
  public void close() {
    NatsNetwork.close(connection);
    requests.close();
  }
}
