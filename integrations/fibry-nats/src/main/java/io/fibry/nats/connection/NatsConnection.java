package io.fibry.nats.connection;

import io.fibry.cluster.TransportException;
import io.fibry.cluster.TransportException.Failure;
import io.fibry.nats.NatsNetwork;
import io.fibry.pubsub.Subscription;
import io.fibry.text.Lines;
import io.fibry.text.SafeLogger;
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
import org.slf4j.Logger;

/** A connection, with its requests and subscriptions. Thread-safe. */
public final class NatsConnection implements AutoCloseable {
  private static final Logger LOG = SafeLogger.of(NatsNetwork.class);
  private static final Duration SERVER_TIMEOUT = Duration.ofSeconds(5); // for one answer of the server

  private final Connection connection;
  private final RequestMultiplexer requests;
  private final ConnectionErrors errors;
  private final ReentrantLock flushLock = new ReentrantLock();

  public NatsConnection(Connection connection, ConnectionErrors errors) {
    this.connection = connection;
    this.requests = new RequestMultiplexer(connection, errors.identity().replyPrefix());
    this.errors = errors;
    for (var subject : requests.replySubjects()) listen(subject, Optional.empty(), requests::onReply);
    errors.onDenied((toSend, subject) -> {
      if (toSend) requests.onDenied(subject, Lines.message(identity().denied(true, subject)));
    });
  }

  public Connection connection() {
    return connection;
  }

  /** {@return the program that is connected} */
  public AppClient identity() {
    return errors.identity();
  }

  public RequestMultiplexer requests() {
    return requests;
  }

  /** Returns whether the connection is closed, and will not reconnect. */
  public boolean isClosed() {
    return connection.getStatus() == Connection.Status.CLOSED;
  }

  /** Returns why no message can be sent at the moment; empty if the connection works. */
  public Optional<String> connectionProblem() {
    var status = connection.getStatus();
    return status == Connection.Status.CONNECTED ? Optional.empty()
        : Optional.of("the connection to NATS is " + status.name().toLowerCase(Locale.ROOT));
  }

  /** Returns how many bytes a message may have, including its headers. */
  public int maxBytes() {
    return (int) Math.min(Integer.MAX_VALUE, connection.getMaxPayload());
  }

  /** Runs the code after each reconnection. The code must not wait. */
  public void onReconnected(Runnable code) {
    errors.onReconnected(code);
  }

  // ---- subscriptions

  public Subscription listen(String subject, Optional<String> group, MessageHandler reader) {
    Dispatcher dispatcher = null;
    boolean isSubscribed = false;
    try {
      var newDispatcher = connection.createDispatcher(reader);
      dispatcher = newDispatcher;
      runFlush(() -> { // so that no other call clears the last error before it is checked
        connection.clearLastError();
        if (group.isPresent()) newDispatcher.subscribe(subject, group.get());
        else newDispatcher.subscribe(subject);
        connection.flush(SERVER_TIMEOUT);
        if (isDenied(subject)) throw identity().denied(false, subject);
      });
      isSubscribed = true;
      return () -> drain(newDispatcher);
    } catch (IllegalStateException | TimeoutException failure) {
      throw subscriptionFailure(subject, failure);
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw subscriptionFailure(subject, interrupt);
    } finally {
      if (!isSubscribed && dispatcher != null) close(connection, dispatcher);
    }
  }

  @FunctionalInterface
  private interface FlushAction {
    void run() throws TimeoutException, InterruptedException;
  }

  /**
   * Runs one action with a flush at a time: with three flushes at once the client assumes that the
   * server is down.
   */
  private void runFlush(FlushAction action) throws TimeoutException, InterruptedException {
    if (!flushLock.tryLock(SERVER_TIMEOUT.toNanos(), TimeUnit.NANOSECONDS))
      throw new TimeoutException("other flushes did not end in time");
    try {
      action.run();
    } finally {
      flushLock.unlock();
    }
  }

  /**
   * Returns whether the server refused a subscription. The server reports a refusal before a flush
   * ends.
   */
  private boolean isDenied(String subject) {
    var error = connection.getLastError();
    return error != null && error.toLowerCase(Locale.ROOT).contains("violation") && error.contains('"' + subject + '"');
  }

  /** Ends a subscription after its reader has read all messages that have arrived. */
  private void drain(Dispatcher dispatcher) {
    boolean wasInterrupted = Thread.interrupted();
    try {
      boolean canDrain = connection.getStatus() == Connection.Status.CONNECTED && dispatcher.isActive();
      if (!canDrain || !awaitDrained(dispatcher)) close(connection, dispatcher);
    } catch (IllegalStateException | ExecutionException failure) {
      LOG.debug("a subscription ended with its connection", failure);
    } catch (InterruptedException interrupt) {
      wasInterrupted = true;
    } finally {
      if (wasInterrupted) Thread.currentThread().interrupt();
    }
  }

  /** Returns false if the reader did not read all messages in time. */
  private boolean awaitDrained(Dispatcher dispatcher) throws InterruptedException, ExecutionException {
    try {
      var drained = new CompletableFuture<Boolean>();
      runFlush(() -> dispatcher.drain(SERVER_TIMEOUT).thenAccept(drained::complete));
      if (drained.get(SERVER_TIMEOUT.toSeconds(), TimeUnit.SECONDS)) return true;
    } catch (TimeoutException slow) {} // logged below
    LOG.debug("a subscription is closed, because its messages were not all read within {} seconds",
        SERVER_TIMEOUT.toSeconds());
    return false;
  }

  private TransportException subscriptionFailure(String subject, Exception cause) {
    return new TransportException(Failure.DISCONNECTED, isClosed()
        ? "there is no subscription to " + subject + ", because the connection to NATS is closed"
        : "it is unknown whether there is a subscription to " + subject + ": " + ConnectionErrors.text(cause));
  }

  /** Closes the connection. Pending requests fail, and their outcome is unknown. */
  @Override
  public void close() {
    try {
      close(connection);
    } finally {
      requests.close();
    }
  }

  /** Closes a dispatcher at once. Messages that it has not passed on yet are dropped. */
  public static void close(Connection connection, Dispatcher dispatcher) {
    if (dispatcher.isActive() && connection.getStatus() != Connection.Status.CLOSED)
      connection.closeDispatcher(dispatcher);
  }

  public static void close(Connection connection) {
    boolean wasInterrupted = Thread.interrupted(); // clears the flag: if it is set, the client does not close
    try {
      connection.close();
    } catch (InterruptedException interrupt) {
      wasInterrupted = true;
    } finally {
      if (wasInterrupted) Thread.currentThread().interrupt();
    }
  }
}
