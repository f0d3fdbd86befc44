package io.fibry.nats;

import io.fibry.cluster.Engine;
import io.fibry.cluster.LostException;
import io.fibry.cluster.LostException.Loss;
import io.fibry.cluster.Wire;
import io.fibry.pubsub.Subscription;
import io.fibry.time.Scheduler;
import io.nats.client.Connection;
import io.nats.client.Dispatcher;
import io.nats.client.Message;
import io.nats.client.MessageHandler;
import io.nats.client.impl.NatsMessage;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.slf4j.LoggerFactory;

/** A connection to NATS. */
final class NatsEngine implements Engine {
  private static final int HEADERS = 8 << 10; // bytes for them, of the limit of a message
  private static final Duration PATIENCE = Duration.ofSeconds(5); // with the server

  /** A request without an answer so far. */
  private record Asked(String subject, CompletableFuture<Wire> answer) {
    void fail(LostException why) {
      answer.completeExceptionally(why);
    }
  }

  private final Connection connection;
  private final NatsTable table;
  private final String answers; // the beginning of their subjects
  private final AtomicLong numbers = new AtomicLong(); // of requests
  private final Map<Long, Asked> asked = new ConcurrentHashMap<>(); // by number
  private final ReentrantLock flushing = new ReentrantLock();
  private volatile boolean closed;

  NatsEngine(Connection connection, NatsTable table, Troubles troubles) {
    this.connection = connection;
    this.table = table;
    this.answers = connection.createInbox() + ".";
    listen(answers + "*", Optional.empty(), this::answered);
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
    long number = numbers.incrementAndGet();
    var checked = checked(message.answeredTo(answers + number));
    var one = new Asked(message.subject(), new CompletableFuture<>());
    var timer = Scheduler.system().after(limit, () -> one.fail(
        new LostException(Loss.LATE, "no answer from " + one.subject + " came in time")));
    asked.put(number, one);
    one.answer.whenComplete((wire, failure) -> {
      asked.remove(number);
      timer.cancel();
    });
    try {
      uninterrupted(one.subject, () -> connection.publish(checked));
      if (closed) one.fail(closed(one)); // it may have been overlooked
    } catch (LostException lost) {
      one.fail(lost);
    }
    return one.answer;
  }

  /** Of the server, if nobody gets the request. */
  private void answered(Message message) {
    var one = asked.get(number(message.getSubject()));
    if (one == null) return; // it was late
    if (message.isStatusMessage()) one.fail(new LostException(Loss.NOBODY, "nobody gets messages to " + one.subject));
    else one.answer.complete(Envelope.open(message));
  }

  private long number(String subject) {
    try {
      return Long.parseLong(subject, answers.length(), subject.length(), 10);
    } catch (NumberFormatException foreign) {
      return -1;
    }
  }

  private static LostException closed(Asked one) {
    return new LostException(Loss.UNKNOWN, "the connection was closed before an answer came from " + one.subject);
  }

  private void denied(boolean toSend, String subject) {
    if (toSend) for (var one : asked.values()) if (one.subject.equals(subject)) one.fail(denied("send to " + subject));
  }

  private static LostException denied(String what) {
    return new LostException(Loss.DENIED, "the server of NATS does not let this program " + what);
  }

  /** With room for its headers, which the server counts, too. */
  private NatsMessage checked(Wire message) {
    message.checkSize(mostBytes());
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
    return listen(subject, group, message -> reader.accept(Envelope.open(message)));
  }

  private Subscription listen(String subject, Optional<String> group, MessageHandler reader) {
    Dispatcher dispatcher = null;
    boolean listens = false;
    try {
      var made = connection.createDispatcher(reader);
      dispatcher = made;
      connection.clearLastError();
      if (group.isPresent()) made.subscribe(subject, group.get());
      else made.subscribe(subject);
      flush(() -> connection.flush(PATIENCE));
      if (isDenied(subject)) throw denied("subscribe to " + subject);
      listens = true;
      return () -> drain(made);
    } catch (IllegalStateException | TimeoutException cut) {
      throw cut("nobody knows whether there is a subscription to " + subject, cut);
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw cut("nobody knows whether there is a subscription to " + subject, interrupt);
    } finally {
      if (!listens && dispatcher != null) NatsNetwork.close(connection, dispatcher);
    }
  }

  @FunctionalInterface
  private interface Flush {
    void run() throws TimeoutException, InterruptedException;
  }

  /** One after the other: the client takes three at once for a server that does not answer. */
  private void flush(Flush flush) throws TimeoutException, InterruptedException {
    if (!flushing.tryLock(PATIENCE.toNanos(), TimeUnit.NANOSECONDS)) throw new TimeoutException("others wait before");
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
      flush(() -> dispatcher.drain(PATIENCE).thenAccept(drained::complete));
      drained.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
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
    closed = true;
    asked.values().forEach(one -> one.fail(closed(one)));
  }
}
