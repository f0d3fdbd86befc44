package io.fibry.nats;

import io.fibry.cluster.TransportException;
import io.fibry.cluster.TransportException.Failure;
import io.fibry.text.Lines;
import io.fibry.time.Scheduler;
import io.nats.client.Connection;
import io.nats.client.Message;
import io.nats.client.NUID;
import io.nats.client.impl.NatsMessage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Requests over a connection, with one subscription for all answers of JetStream, and another for
 * answers of other programs, which cannot send to the first. Those of the client cost as much as
 * all the rest. Thread-safe.
 */
final class RequestMultiplexer {
  private static final int STATUS_END = 204; // of several answers
  private static final int STATUS_NOT_FOUND = 404;

  /** A request without an answer so far. */
  private abstract static sealed class PendingReply<T> {
    final String subject;
    final String from; // the beginning of the subject of its answer
    final CompletableFuture<T> answer = new CompletableFuture<>();

    PendingReply(String subject, String from) {
      this.subject = subject;
      this.from = from;
    }

    /** Called by the thread of the subscription. */
    abstract void onMessage(Message message);

    void fail(Failure loss, String text) {
      answer.completeExceptionally(new TransportException(loss, text));
    }
  }

  private static final class SingleReply extends PendingReply<Message> {
    SingleReply(String subject, String from) {
      super(subject, from);
    }

    @Override
    void onMessage(Message message) {
      if (message.isStatusMessage()) fail(Failure.NO_RECEIVER, "nobody gets messages to " + subject);
      else answer.complete(message);
    }
  }

  private static final class MultiReply extends PendingReply<List<Message>> {
    private final List<Message> received = new ArrayList<>();

    MultiReply(String subject, String from) {
      super(subject, from);
    }

    @Override
    void onMessage(Message message) {
      if (!message.isStatusMessage()) {
        received.add(message);
        return;
      }
      int code = message.getStatus().getCode();
      if (code == STATUS_END || code == STATUS_NOT_FOUND) answer.complete(received);
      else fail(Failure.NO_RECEIVER,
          "the server refuses " + subject + ": " + Lines.escaped(message.getStatus().getMessage()));
    }
  }

  private final Connection connection;
  private final String answers; // the beginning of their subjects
  private final String programReplies; // of the answers of other programs
  private final AtomicLong numbers = new AtomicLong(); // of requests
  private final Map<Long, PendingReply<?>> pending = new ConcurrentHashMap<>(); // by number
  private volatile boolean closed;

  /**
   * Its link subscribes to {@link #answers}.
   *
   * @param programs the beginning of the subjects to which other programs answer
   */
  RequestMultiplexer(Connection connection, String programs) {
    this.connection = connection;
    this.answers = connection.createInbox() + ".";
    this.programReplies = programs + NUID.nextGlobal() + ".";
  }

  List<String> answers() {
    return List.of(answers + "*", programReplies + "*");
  }

  /** Asks JetStream. */
  CompletableFuture<Message> ask(NatsMessage.Builder message, String subject, Duration limit) {
    return ask(message, new SingleReply(subject, answers), limit);
  }

  /** Asks another program of the app. */
  CompletableFuture<Message> askProgram(NatsMessage.Builder message, String subject, Duration limit) {
    return ask(message, new SingleReply(subject, programReplies), limit);
  }

  /** Until the server says that these are all. */
  CompletableFuture<List<Message>> askForMany(NatsMessage.Builder message, String subject, Duration limit) {
    return ask(message, new MultiReply(subject, answers), limit);
  }

  private <T> CompletableFuture<T> ask(NatsMessage.Builder message, PendingReply<T> one, Duration limit) {
    long number = numbers.incrementAndGet();
    var sent = message.replyTo(one.from + number).build();
    var timer = Scheduler.system().schedule(limit,
        () -> one.fail(Failure.TIMED_OUT, "no answer from " + one.subject + " came in time"));
    pending.put(number, one);
    one.answer.whenComplete((answer, failure) -> {
      pending.remove(number);
      timer.cancel();
    });
    try {
      publish(sent);
      if (closed) close(one); // it may have been overlooked
    } catch (TransportException lost) {
      one.answer.completeExceptionally(lost);
    }
    return one.answer;
  }

  /** The client silently drops messages of an interrupted thread. */
  void publish(NatsMessage message) {
    boolean interrupted = Thread.interrupted();
    try {
      connection.publish(message);
      if (Thread.currentThread().isInterrupted()) throw new TransportException(Failure.UNKNOWN,
          "the thread was interrupted while a message to " + message.getSubject() + " left");
    } catch (IllegalStateException cut) {
      throw new TransportException(Failure.DISCONNECTED,
          "a message to " + message.getSubject() + " did not leave: " + ConnectionErrors.text(cut));
    } finally {
      if (interrupted) Thread.currentThread().interrupt();
    }
  }

  /** Called by the subscription. */
  void onReply(Message message) {
    String subject = message.getSubject();
    var one = pending.get(number(subject));
    if (one != null && subject.startsWith(one.from)) one.onMessage(message); // otherwise it is late, or forged
  }

  private static long number(String subject) {
    try {
      return Long.parseLong(subject, subject.lastIndexOf('.') + 1, subject.length(), 10);
    } catch (NumberFormatException foreign) {
      return -1;
    }
  }

  void onDenied(String subject, String text) {
    for (var one : pending.values()) if (one.subject.equals(subject)) one.fail(Failure.DENIED, text);
  }

  /** After the connection. */
  void close() {
    closed = true;
    pending.values().forEach(RequestMultiplexer::close);
  }

  private static void close(PendingReply<?> one) {
    one.fail(Failure.UNKNOWN, "the connection was closed before an answer came from " + one.subject);
  }
}
