package io.fibry.nats;

import io.fibry.cluster.LostException;
import io.fibry.cluster.LostException.Loss;
import io.fibry.text.Lines;
import io.fibry.time.Scheduler;
import io.nats.client.Connection;
import io.nats.client.Message;
import io.nats.client.impl.NatsMessage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Requests over a connection, with one subscription for all answers. Those of the client cost as
 * much as all the rest. Thread-safe.
 */
final class Requests {
  private static final int END = 204; // of several answers
  private static final int NONE = 404;

  /** A request without an answer so far. */
  private abstract static sealed class Asked<T> {
    final String subject;
    final CompletableFuture<T> answer = new CompletableFuture<>();

    Asked(String subject) {
      this.subject = subject;
    }

    /** By the thread of the subscription. */
    abstract void take(Message message);

    void fail(Loss loss, String text) {
      answer.completeExceptionally(new LostException(loss, text));
    }
  }

  private static final class One extends Asked<Message> {
    One(String subject) {
      super(subject);
    }

    @Override
    void take(Message message) {
      if (message.isStatusMessage()) fail(Loss.NOBODY, "nobody gets messages to " + subject);
      else answer.complete(message);
    }
  }

  private static final class Several extends Asked<List<Message>> {
    private final List<Message> so = new ArrayList<>();

    Several(String subject) {
      super(subject);
    }

    @Override
    void take(Message message) {
      if (!message.isStatusMessage()) {
        so.add(message);
        return;
      }
      int code = message.getStatus().getCode();
      if (code == END || code == NONE) answer.complete(so);
      else fail(Loss.NOBODY, "the server refuses " + subject + ": " + Lines.escaped(message.getStatus().getMessage()));
    }
  }

  private final Connection connection;
  private final String answers; // the beginning of their subjects
  private final AtomicLong numbers = new AtomicLong(); // of requests
  private final Map<Long, Asked<?>> asked = new ConcurrentHashMap<>(); // by number
  private volatile boolean closed;

  /** Its link subscribes to {@link #answers}. */
  Requests(Connection connection) {
    this.connection = connection;
    this.answers = connection.createInbox() + ".";
  }

  String answers() {
    return answers + "*";
  }

  CompletableFuture<Message> ask(NatsMessage.Builder message, String subject, Duration limit) {
    return ask(message, new One(subject), limit);
  }

  /** Until the server says that these are all. */
  CompletableFuture<List<Message>> askForSeveral(NatsMessage.Builder message, String subject, Duration limit) {
    return ask(message, new Several(subject), limit);
  }

  private <T> CompletableFuture<T> ask(NatsMessage.Builder message, Asked<T> one, Duration limit) {
    long number = numbers.incrementAndGet();
    var sent = message.replyTo(answers + number).build();
    var timer = Scheduler.system().after(limit,
        () -> one.fail(Loss.LATE, "no answer from " + one.subject + " came in time"));
    asked.put(number, one);
    one.answer.whenComplete((answer, failure) -> {
      asked.remove(number);
      timer.cancel();
    });
    try {
      publish(sent);
      if (closed) close(one); // it may have been overlooked
    } catch (LostException lost) {
      one.answer.completeExceptionally(lost);
    }
    return one.answer;
  }

  /** The client drops, without a word, what an interrupted thread sends. */
  void publish(NatsMessage message) {
    boolean interrupted = Thread.interrupted();
    try {
      connection.publish(message);
      if (Thread.currentThread().isInterrupted()) throw new LostException(Loss.UNKNOWN,
          "the thread was interrupted while a message to " + message.getSubject() + " left");
    } catch (IllegalStateException cut) {
      throw new LostException(Loss.CUT,
          "a message to " + message.getSubject() + " did not leave: " + Troubles.text(cut));
    } finally {
      if (interrupted) Thread.currentThread().interrupt();
    }
  }

  /** By the subscription. */
  void answered(Message message) {
    var one = asked.get(number(message.getSubject()));
    if (one != null) one.take(message); // otherwise it is late
  }

  private long number(String subject) {
    try {
      return Long.parseLong(subject, answers.length(), subject.length(), 10);
    } catch (NumberFormatException foreign) {
      return -1;
    }
  }

  void denied(String subject) {
    for (var one : asked.values()) if (one.subject.equals(subject))
      one.fail(Loss.DENIED, "the server of NATS does not let this program send to " + subject);
  }

  /** After the connection. */
  void close() {
    closed = true;
    asked.values().forEach(Requests::close);
  }

  private static void close(Asked<?> one) {
    one.fail(Loss.UNKNOWN, "the connection was closed before an answer came from " + one.subject);
  }
}
