package io.fibry.nats.connection;

import io.fibry.ActorSystem;
import io.fibry.cluster.TransportException;
import io.fibry.cluster.TransportException.Failure;
import io.fibry.spi.BlockBuilder;
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
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Sends requests over a connection. One subscription receives all answers of JetStream. A second
 * subscription receives the answers of other programs, which may not publish to the subject of the
 * first subscription. The client's own requests are not used, because each of them costs more.
 * Thread-safe.
 */
public final class RequestMultiplexer {
  private static final BlockBuilder<?> LIMITS = BlockBuilder.of(ActorSystem.anonymous()); // starts limits of requests
  private static final int STATUS_END = 204; // ends a series of answers
  private static final int STATUS_NOT_FOUND = 404;

  /** A request whose answer has not come yet. */
  private abstract static sealed class PendingReply<T> {
    final String subject;
    final String replyPrefix; // beginning of the subject of the answer
    final CompletableFuture<T> answer = new CompletableFuture<>();

    PendingReply(String subject, String replyPrefix) {
      this.subject = subject;
      this.replyPrefix = replyPrefix;
    }

    /** Called by the thread of the subscription. */
    abstract void onMessage(Message message);

    void fail(Failure kind, String text) {
      answer.completeExceptionally(new TransportException(kind, text));
    }
  }

  private static final class SingleReply extends PendingReply<Message> {
    SingleReply(String subject, String replyPrefix) {
      super(subject, replyPrefix);
    }

    @Override
    void onMessage(Message message) {
      if (message.isStatusMessage()) fail(Failure.NO_RECEIVER, "no node receives messages to " + subject);
      else answer.complete(message);
    }
  }

  private static final class MultiReply extends PendingReply<List<Message>> {
    private final List<Message> received = new ArrayList<>();

    MultiReply(String subject, String replyPrefix) {
      super(subject, replyPrefix);
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
  private final String serverReplies; // beginning of the subjects of answers of JetStream
  private final String programReplies; // beginning of the subjects of answers of programs
  private final AtomicLong lastNumber = new AtomicLong(); // of the last request
  private final Map<Long, PendingReply<?>> pending = new ConcurrentHashMap<>(); // by number
  private volatile boolean closed;

  /**
   * The connection must subscribe {@link #onReply} to {@link #replySubjects()}.
   *
   * @param programPrefix the beginning of the subjects to which other programs answer
   */
  RequestMultiplexer(Connection connection, String programPrefix) {
    this.connection = connection;
    this.serverReplies = connection.createInbox() + ".";
    this.programReplies = programPrefix + NUID.nextGlobal() + ".";
  }

  List<String> replySubjects() {
    return List.of(serverReplies + "*", programReplies + "*");
  }

  /** Asks JetStream. */
  public CompletableFuture<Message> ask(NatsMessage.Builder message, String subject, Duration limit) {
    return ask(message, new SingleReply(subject, serverReplies), limit);
  }

  /** Asks another program of the app. */
  public CompletableFuture<Message> askProgram(NatsMessage.Builder message, String subject, Duration limit) {
    return ask(message, new SingleReply(subject, programReplies), limit);
  }

  /** Asks JetStream for several messages. The future completes when no more follow. */
  public CompletableFuture<List<Message>> askForMany(NatsMessage.Builder message, String subject, Duration limit) {
    return ask(message, new MultiReply(subject, serverReplies), limit);
  }

  private <T> CompletableFuture<T> ask(NatsMessage.Builder message, PendingReply<T> reply, Duration limit) {
    long number = lastNumber.incrementAndGet();
    var request = message.replyTo(reply.replyPrefix + number).build();
    var timer = LIMITS.startTimeout(Scheduler.system(), limit,
        () -> reply.fail(Failure.TIMED_OUT, "no answer from " + reply.subject + " came in time"));
    pending.put(number, reply);
    reply.answer.whenComplete((answer, failure) -> {
      pending.remove(number);
      timer.cancel();
    });
    try {
      publish(request);
      if (closed) close(reply); // close() may have run before the request was added
    } catch (TransportException failure) {
      reply.answer.completeExceptionally(failure);
    }
    return reply.answer;
  }

  /** Waits for the answer. If the thread is interrupted, throws even if the answer has come. */
  public static <T> T awaitAnswer(Future<T> request) throws InterruptedException, ExecutionException {
    if (Thread.interrupted()) throw new InterruptedException();
    return request.get();
  }

  /** Waits for the answer. If the request failed, throws its TransportException. */
  public static <T> T awaitReply(CompletableFuture<T> request) throws InterruptedException {
    try {
      return awaitAnswer(request);
    } catch (ExecutionException failure) {
      throw failure.getCause() instanceof TransportException transportFailure ? transportFailure
          : new IllegalStateException(failure.getCause());
    }
  }

  /** Publishes a message. Hides an interrupt from the client, which would drop the message. */
  public void publish(NatsMessage message) {
    boolean wasInterrupted = Thread.interrupted();
    try {
      connection.publish(message);
      if (Thread.currentThread().isInterrupted()) throw new TransportException(Failure.UNKNOWN,
          "the thread was interrupted while it sent a message to " + message.getSubject());
    } catch (IllegalStateException failure) {
      throw new TransportException(Failure.DISCONNECTED,
          "a message to " + message.getSubject() + " was not sent: " + ConnectionErrors.text(failure));
    } finally {
      if (wasInterrupted) Thread.currentThread().interrupt();
    }
  }

  /** Called by the subscriptions. */
  void onReply(Message message) {
    String subject = message.getSubject();
    var reply = pending.get(number(subject));
    // if this is false, the request has ended, or the answer is forged
    if (reply != null && subject.startsWith(reply.replyPrefix)) reply.onMessage(message);
  }

  private static long number(String subject) {
    try {
      return Long.parseLong(subject, subject.lastIndexOf('.') + 1, subject.length(), 10);
    } catch (NumberFormatException malformed) {
      return -1;
    }
  }

  void onDenied(String subject, String text) {
    for (var reply : pending.values()) if (reply.subject.equals(subject)) reply.fail(Failure.DENIED, text);
  }

  /** Fails all pending requests. Called after the connection was closed. */
  void close() {
    closed = true;
    pending.values().forEach(RequestMultiplexer::close);
  }

  private static void close(PendingReply<?> reply) {
    reply.fail(Failure.UNKNOWN, "the connection was closed before an answer came from " + reply.subject);
  }
}
