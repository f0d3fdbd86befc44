package io.fibry.nats.stream;

import io.fibry.cluster.TransportException;
import io.fibry.cluster.TransportException.Failure;
import io.fibry.nats.NatsNetwork.Role;
import io.fibry.nats.connection.ConnectionErrors;
import io.fibry.nats.connection.NatsConnection;
import io.fibry.nats.connection.RequestMultiplexer;
import io.fibry.store.StoreClosedException;
import io.fibry.store.StoreDamagedException;
import io.fibry.store.StoreReadException;
import io.fibry.text.Lines;
import io.nats.client.JetStreamApiException;
import io.nats.client.JetStreamManagement;
import io.nats.client.Message;
import io.nats.client.NUID;
import io.nats.client.api.AckPolicy;
import io.nats.client.api.ConsumerConfiguration;
import io.nats.client.api.MessageInfo;
import io.nats.client.api.StreamConfiguration;
import io.nats.client.api.StreamInfoOptions;
import io.nats.client.impl.Headers;
import io.nats.client.impl.NatsMessage;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Writes, reads and deletes messages of one stream of JetStream. Single messages are read from the
 * leader, because other servers may be behind. Thread-safe.
 */
public class JetStreamLog {
  /** How long one request waits for its answer, unless its caller gives another limit. */
  public static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(5);
  private static final int NOT_FOUND = 10037; // error code of the server: no such message
  private static final int MAX_PARALLEL_READS = 256; // reads in flight in lastMessages
  private static final int MAX_BATCHES = 12; // max batches in flight from this program; the server permits 50 in all
  private static final int PAGE_BYTES = 4 << 20; // max size of a page
  private static final String DUE_HEADER = "Fb-Due"; // header with the due time, in milliseconds since 1970

  /**
   * A message to be stored.
   *
   * @param due when a message for an actor is due; empty for other messages
   */
  public record StreamMessage(String subject, Optional<Instant> due, byte[] body) {
    public static StreamMessage of(String subject, byte[] body) {
      return new StreamMessage(subject, Optional.empty(), body);
    }
  }

  private final NatsConnection connection;
  private final JetStreamManagement management;
  private final String streamName;
  private final Duration limit; // max time for all attempts of one read or write
  private final PurgeTarget purgeTarget;
  private final AtomicLong lastAcknowledged = new AtomicLong(); // highest acknowledged number in the stream
  private final Semaphore batchPermits = new Semaphore(MAX_BATCHES);

  public JetStreamLog(NatsConnection connection, String streamName, Duration limit) throws IOException {
    this(connection, streamName, limit, PurgeTarget.atServer(streamName));
  }

  public JetStreamLog(NatsConnection connection, String streamName, Duration limit, PurgeTarget purgeTarget)
      throws IOException {
    this.connection = connection;
    this.purgeTarget = purgeTarget;
    this.management = connection.connection().jetStreamManagement();
    this.streamName = streamName;
    this.limit = limit;
  }

  public void createStream(String[] subjects, int replicas, Role role) throws IOException {
    StreamSetup.create(management, role,
        StreamConfiguration.builder().name(streamName).subjects(subjects).replicas(replicas)
            .duplicateWindow(StreamSetup.DEDUPLICATION_WINDOW).allowAtomicPublish(true).allowDirect(true).build());
  }

  public int maxBytes() {
    return connection.maxBytes();
  }

  // ---- writing

  /** Stores a message, unless the server stored a message with this id in the last two minutes. */
  public CompletableFuture<WriteOutcome> add(StreamMessage message, String deduplicationId) {
    return add(message, deduplicationId, ANSWER_TIMEOUT);
  }

  /**
   * Stores a message, unless the server stored a message with this id in the last two minutes.
   *
   * @param answerLimit how long to wait for the server's answer at most
   */
  public CompletableFuture<WriteOutcome> add(StreamMessage message, String deduplicationId, Duration answerLimit) {
    return publish(message, new Headers().put("Nats-Msg-Id", deduplicationId), answerLimit);
  }

  /**
   * Stores a message if the last message of its subject has the number {@code expectedLastSeq} (0:
   * the subject has none), and then purges that last message.
   */
  public CompletableFuture<WriteOutcome> replace(StreamMessage message, long expectedLastSeq) {
    return publish(message, expectingLast(expectedLastSeq)).thenApply(outcome -> {
      // if the purge fails, the next replacement purges both messages
      if (outcome instanceof WriteOutcome.WriteSuccess && expectedLastSeq > 0) purge(message.subject, expectedLastSeq);
      return outcome;
    });
  }

  /**
   * Stores all messages if the last message in the subject of the first message has the number
   * {@code expectedLastSeq} (0: the subject has none). Otherwise stores no message. A success has
   * the number of the last stored message.
   */
  public CompletableFuture<WriteOutcome> addAll(List<StreamMessage> messages, long expectedLastSeq) {
    if (messages.size() == 1) return publish(messages.getFirst(), expectingLast(expectedLastSeq));
    batchPermits.acquireUninterruptibly();
    boolean isStarted = false;
    try {
      var outcome = publishBatch(messages, expectedLastSeq).whenComplete((value, failure) -> batchPermits.release());
      isStarted = true;
      return outcome;
    } finally {
      if (!isStarted) batchPermits.release();
    }
  }

  private static Headers expectingLast(long expectedLastSeq) {
    return new Headers().put("Nats-Expected-Last-Subject-Sequence", String.valueOf(expectedLastSeq));
  }

  private CompletableFuture<WriteOutcome> publishBatch(List<StreamMessage> messages, long expectedLastSeq) {
    String batchId = NUID.nextGlobal();
    for (int i = 0; i < messages.size() - 1; i++) try {
      connection.requests()
          .publish(toNatsMessage(messages.get(i),
              batchHeaders(i == 0 ? expectingLast(expectedLastSeq) : new Headers(), batchId, i)).build());
    } catch (TransportException failure) {
      return CompletableFuture.completedFuture(new WriteOutcome.RetryableFailure(Lines.message(failure), false));
    }
    return publish(messages.getLast(), batchHeaders(new Headers(), batchId, messages.size() - 1)
        .put("Nats-Batch-Commit", "1"));
  }

  private static Headers batchHeaders(Headers headers, String batch, int index) {
    return headers.put("Nats-Batch-Id", batch).put("Nats-Batch-Sequence", String.valueOf(index + 1));
  }

  private CompletableFuture<WriteOutcome> publish(StreamMessage message, Headers headers) {
    return publish(message, headers, ANSWER_TIMEOUT);
  }

  private CompletableFuture<WriteOutcome> publish(StreamMessage message, Headers headers, Duration answerLimit) {
    return connection.requests().ask(toNatsMessage(message, headers), message.subject, answerLimit)
        .handle(WriteOutcome::of)
        .thenApply(this::noteOutcome);
  }

  private WriteOutcome noteOutcome(WriteOutcome outcome) {
    if (outcome instanceof WriteOutcome.WriteSuccess success) noteAcknowledged(success.seq());
    return outcome;
  }

  /** Notes that a majority of the servers has the stream up to the message with this number. */
  public void noteAcknowledged(long seq) {
    lastAcknowledged.accumulateAndGet(seq, Math::max);
  }

  private static NatsMessage.Builder toNatsMessage(StreamMessage message, Headers headers) {
    message.due.ifPresent(due -> headers.put(DUE_HEADER, String.valueOf(due.toEpochMilli())));
    return NatsMessage.builder().subject(message.subject).headers(headers).data(message.body);
  }

  /** Deletes the messages of a subject up to this number of the stream, inclusive. */
  public CompletableFuture<WriteOutcome> purge(String subject, long lastSeq) {
    String api = purgeTarget.subject();
    var call = jsonMessage(api, "{\"filter\":\"" + subject + "\",\"seq\":" + (lastSeq + 1) + "}");
    var answer = purgeTarget.isKeeper() ? connection.requests().askProgram(call, api, ANSWER_TIMEOUT)
        : connection.requests().ask(call, api, ANSWER_TIMEOUT);
    return answer.handle(WriteOutcome::of).thenApply(purgeTarget::noteOutcome);
  }

  /** Deletes the message with this number of the stream. */
  public CompletableFuture<WriteOutcome> delete(long seq) {
    String api = "$JS.API.STREAM.MSG.DELETE." + streamName;
    return connection.requests().ask(jsonMessage(api, "{\"seq\":" + seq + ",\"no_erase\":true}"), api, ANSWER_TIMEOUT)
        .handle(WriteOutcome::of);
  }

  /** {@return why the last purge failed, as the end of a sentence; empty if it succeeded} */
  public String purgeFailureText() {
    return purgeTarget.purgeFailureText();
  }

  /** {@return whether this program asks a {@link Role#KEEPER} to purge for it} */
  public boolean isPurgedByKeeper() {
    return purgeTarget.isKeeper();
  }

  private static NatsMessage.Builder jsonMessage(String subject, String text) {
    return NatsMessage.builder().subject(subject).data(text, StandardCharsets.UTF_8);
  }

  /** Returns the due time of a pending message. */
  public static Instant readDueTime(MessageInfo message) {
    try {
      return Instant.ofEpochMilli(Long.parseLong(message.getHeaders().getFirst(DUE_HEADER)));
    } catch (RuntimeException malformed) {
      throw new StoreDamagedException("message " + message.getSeq() + " of stream " + message.getStream()
          + " does not say when it is due; delete it with the tools of NATS");
    }
  }

  // ---- consumers

  /**
   * Creates a consumer that delivers each message to one program at a time, until a program
   * acknowledges it. A message without reports of progress for {@code ackLimit} is delivered again.
   */
  public void createConsumer(String name, String subject, Duration ackLimit) {
    read(subject, () -> management.addOrUpdateConsumer(streamName,
        ConsumerConfiguration.builder().durable(name).filterSubject(subject).ackPolicy(AckPolicy.Explicit)
            .ackWait(ackLimit).maxDeliver(-1).maxAckPending(-1).build()));
  }

  /** Returns the subject to which programs send their requests for messages of the consumer. */
  public String requestSubject(String consumer) {
    return "$JS.API.CONSUMER.MSG.NEXT." + streamName + "." + consumer;
  }

  /** Acknowledges a delivery. The future completes when the server has confirmed that. */
  public CompletableFuture<WriteOutcome> acknowledge(String replySubject) {
    return connection.requests().ask(jsonMessage(replySubject, "+ACK"), replySubject, ANSWER_TIMEOUT)
        .handle((answer, failure) -> failure == null ? new WriteOutcome.WriteSuccess(0)
            : WriteOutcome.of(answer, failure));
  }

  // ---- reading

  /** A read of the stream. */
  @FunctionalInterface
  private interface StreamRead<T> {
    T read() throws IOException, JetStreamApiException, InterruptedException;
  }

  /** Returns the last message of a subject. */
  public Optional<MessageInfo> lastMessage(String subject) {
    return lastMessages(List.of(subject)).stream().findFirst();
  }

  /** Returns the last message of each subject that has one, in no particular order. */
  public List<MessageInfo> lastMessages(Collection<String> subjects) {
    var subjectList = List.copyOf(subjects);
    return read(subjectList.size() == 1 ? subjectList.getFirst() : subjectList.size() + " subjects", () -> {
      var messages = new ArrayList<MessageInfo>(subjectList.size());
      for (int i = 0; i < subjectList.size(); i += MAX_PARALLEL_READS) {
        var requests = subjectList.subList(i, Math.min(subjectList.size(), i + MAX_PARALLEL_READS)).stream()
            .map(subject -> askForMessage("\"last_by_subj\":\"" + subject + "\"")).toList();
        for (var request : requests) awaitMessage(request).ifPresent(messages::add);
      }
      return messages;
    });
  }

  /** Returns the first message whose subject matches a filter, from a number of the stream on. */
  public Optional<MessageInfo> nextMessage(String filter, long firstSeq) {
    return read(filter,
        () -> awaitMessage(askForMessage("\"seq\":" + firstSeq + ",\"next_by_subj\":\"" + filter + "\"")));
  }

  private CompletableFuture<Message> askForMessage(String selector) {
    String api = "$JS.API.STREAM.MSG.GET." + streamName;
    return connection.requests().ask(jsonMessage(api, "{" + selector + "}"), api, ANSWER_TIMEOUT);
  }

  private Optional<MessageInfo> awaitMessage(CompletableFuture<Message> request)
      throws IOException, JetStreamApiException, InterruptedException {
    var answer = new MessageInfo(RequestMultiplexer.awaitReply(request), streamName, false);
    if (answer.hasError() && answer.getApiErrorCode() == NOT_FOUND) return Optional.empty();
    return Optional.of(answer.throwOnHasError());
  }

  /**
   * Returns the number of messages of each subject that matches the filter and has messages. A
   * former leader may answer before it knows that it was replaced. If its stream ends before the
   * last message that this program knows of, the read is repeated.
   */
  public Map<String, Long> countBySubject(String filter) {
    long acknowledged = lastAcknowledged.get();
    return read(filter, () -> {
      var state = management.getStreamInfo(streamName, StreamInfoOptions.filterSubjects(filter)).getStreamState();
      if (state.getLastSequence() < acknowledged)
        throw new IOException("the stream of the server that answered ends at message " + state.getLastSequence()
            + ", not at " + acknowledged + " or later: it is a former leader");
      return state.getSubjectMap();
    });
  }

  /**
   * Returns at most {@code max} messages whose subjects match a filter, from the number
   * {@code firstSeq} on, in order. Returns an empty list if there are no more. If the server that
   * answers finds none, it may be behind the leader, so the leader is asked.
   */
  public List<MessageInfo> page(String filter, long firstSeq, int max) {
    String api = "$JS.API.DIRECT.GET." + streamName;
    String selector = "{\"seq\":" + firstSeq + ",\"next_by_subj\":\"" + filter + "\",\"batch\":" + max
        + ",\"max_bytes\":"
        + PAGE_BYTES + "}";
    var page = read(filter,
        () -> checkComplete(
            RequestMultiplexer
                .awaitReply(connection.requests().askForMany(jsonMessage(api, selector), api, ANSWER_TIMEOUT))));
    return page.isEmpty() ? nextMessage(filter, firstSeq).stream().toList() : page;
  }

  /** Throws if a message between two others was lost in transit. */
  private List<MessageInfo> checkComplete(List<Message> messages) throws IOException {
    var page = messages.stream().map(message -> new MessageInfo(message, streamName, true)).toList();
    for (int i = 1; i < page.size(); i++)
      if (page.get(i).getLastSeq() != page.get(i - 1).getSeq())
        throw new IOException("a message of a page was lost in transit");
    return page;
  }

  private <T> T read(String description, StreamRead<T> operation) {
    var deadline = newDeadline();
    for (int attempt = 1;; attempt++) try {
      return operation.read();
    } catch (JetStreamApiException | IOException | IllegalStateException | TransportException failure) {
      if (connection.isClosed())
        throw new StoreClosedException("the connection to stream " + streamName + " is closed");
      if (!isTransient(failure) || hasExpired(deadline)) throw new StoreReadException(
          description + " cannot be read from stream " + streamName + ": " + ConnectionErrors.text(failure), failure);
      pause(attempt);
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw new CancellationException("interrupted while " + description + " was read from stream " + streamName);
    }
  }

  private static boolean isTransient(Exception failure) {
    return switch (failure) {
      case JetStreamApiException refusal -> refusal.getErrorCode() == 503;
      case TransportException transportFailure -> transportFailure.failure() != Failure.DENIED;
      default -> true;
    };
  }

  /** Sleeps before another attempt, for a random time that grows to at most 200 ms. */
  public static void pause(int attempt) {
    try {
      TimeUnit.MILLISECONDS.sleep(ThreadLocalRandom.current().nextInt(5, 10 + Math.min(190, 10 * attempt)));
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw new CancellationException("interrupted between two attempts of a call to JetStream");
    }
  }

  // ---- attempts

  /** Sends a write to the server once. */
  @FunctionalInterface
  public interface WriteAttempt {
    CompletableFuture<WriteOutcome> make();
  }

  /**
   * The deadline of all attempts of a write or read, by the monotonic clock and the wall clock. It
   * has expired if one of the clocks has passed it. While the process is paused, both clocks
   * continue. While the machine is suspended, only the wall clock does.
   */
  public record AttemptDeadline(long monotonicNanos, long wallMillis) {}

  /** Returns how long a read or write is repeated at most. */
  public Duration limit() {
    return limit;
  }

  public AttemptDeadline newDeadline() {
    return new AttemptDeadline(System.nanoTime() + limit.toNanos(), wallMillis() + limit.toMillis());
  }

  public boolean hasExpired(AttemptDeadline deadline) {
    return System.nanoTime() - deadline.monotonicNanos > 0 || wallMillis() - deadline.wallMillis > 0;
  }

  /** Returns the wall time in milliseconds. Tests override this to simulate a paused machine. */
  protected long wallMillis() {
    return System.currentTimeMillis();
  }

  /** Repeats an attempt until its outcome is final, or the request limit has passed. */
  public WriteOutcome retryUntilSettled(WriteAttempt attempt) {
    var deadline = newDeadline(); // set before the first attempt: until the deadline, the server remembers the id
    return retryUntilSettled(attempt, attempt.make().join(), deadline);
  }

  /**
   * Repeats an attempt while its outcome is a retryable failure and the deadline has not expired.
   * Checks the deadline after each pause, too: if the machine was suspended during the pause, the
   * server may have forgotten the id of the first attempt.
   */
  public WriteOutcome retryUntilSettled(WriteAttempt attempt, WriteOutcome firstOutcome, AttemptDeadline deadline) {
    boolean mayBeStored = false;
    var outcome = firstOutcome;
    for (int attempts = 1; outcome instanceof WriteOutcome.RetryableFailure failure; attempts++) {
      mayBeStored |= failure.mayBeStored();
      if (!hasExpired(deadline)) pause(attempts);
      if (connection.isClosed() || hasExpired(deadline))
        return new WriteOutcome.RetryableFailure(failure.reason(), mayBeStored);
      outcome = attempt.make().join();
    }
    if (!mayBeStored) return outcome;
    return switch (outcome) {
      case WriteOutcome.WriteConflict conflict -> new WriteOutcome.WriteConflict(true);
      case WriteOutcome.WriteRejection rejection -> new WriteOutcome.RetryableFailure(rejection.reason(), true);
      default -> outcome;
    };
  }
}
