package io.fibry.nats;

import io.fibry.cluster.TransportException.Failure;
import io.fibry.cluster.TransportException;
import io.fibry.nats.NatsNetwork.Role;
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
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Writes, reads and deletes messages of one stream of JetStream. Single messages are read from the
 * leader, because other servers may be behind. Thread-safe.
 */
class JetStreamLog {
  private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(5); // of one request
  private static final int NOT_FOUND = 10037;
  private static final int MAX_PARALLEL = 256; // reads of last messages in flight
  private static final int MAX_BATCHES = 12; // in flight; the server permits 50 for all programs
  private static final int PAGE_BYTES = 4 << 20;
  private static final String DUE = "Fb-Due"; // header: milliseconds since 1970

  /**
   * A message to be stored.
   *
   * @param due when a message for an actor is due; empty for other messages
   */
  record StreamMessage(String subject, Optional<Instant> due, byte[] body) {
    static StreamMessage of(String subject, byte[] body) {
      return new StreamMessage(subject, Optional.empty(), body);
    }
  }

  private final NatsConnection connection;
  private final JetStreamManagement management;
  private final String stream;
  private final Duration limit;
  private final PurgeTarget purgeTarget;
  private final AtomicLong lastAcknowledged = new AtomicLong(); // highest number in the stream
  private final Semaphore batches = new Semaphore(MAX_BATCHES);

  JetStreamLog(NatsConnection connection, String stream, Duration limit) throws IOException {
    this(connection, stream, limit, PurgeTarget.atServer(stream));
  }

  JetStreamLog(NatsConnection connection, String stream, Duration limit, PurgeTarget purgeTarget) throws IOException {
    this.connection = connection;
    this.purgeTarget = purgeTarget;
    this.management = connection.connection().jetStreamManagement();
    this.stream = stream;
    this.limit = limit;
  }

  void createStream(String[] subjects, int replicas, Role role) throws IOException {
    StreamSetup.create(management, role,
        StreamConfiguration.builder().name(stream).subjects(subjects).replicas(replicas)
            .duplicateWindow(StreamSetup.DEDUPLICATION_WINDOW).allowAtomicPublish(true).allowDirect(true).build());
  }

  int maxBytes() {
    return connection.maxBytes();
  }

  // ---- writing

  /** Stores a message, only once even if it is sent again with its id within two minutes. */
  CompletableFuture<WriteOutcome> add(StreamMessage message, String id) {
    return publish(message, new Headers().put("Nats-Msg-Id", id));
  }

  /** Stores a message if its subject's last message has this number (0: none), and purges that. */
  CompletableFuture<WriteOutcome> replace(StreamMessage message, long expectedLast) {
    return publish(message, expectingLast(expectedLast)).thenApply(outcome -> {
      // if that fails, the next replacement purges both
      if (outcome instanceof WriteOutcome.WriteSuccess && expectedLast > 0) purge(message.subject, expectedLast);
      return outcome;
    });
  }

  /**
   * Stores all messages if the last message in the subject of the first one has this number (0:
   * none), otherwise no message. A success has the number of the last stored message.
   */
  CompletableFuture<WriteOutcome> addAll(List<StreamMessage> messages, long expectedLast) {
    if (messages.size() == 1) return publish(messages.getFirst(), expectingLast(expectedLast));
    batches.acquireUninterruptibly();
    boolean isStarted = false;
    try {
      var outcome = batch(messages, expectedLast).whenComplete((value, failure) -> batches.release());
      isStarted = true;
      return outcome;
    } finally {
      if (!isStarted) batches.release();
    }
  }

  private static Headers expectingLast(long expectedLast) {
    return new Headers().put("Nats-Expected-Last-Subject-Sequence", String.valueOf(expectedLast));
  }

  private CompletableFuture<WriteOutcome> batch(List<StreamMessage> messages, long expectedLast) {
    String batchId = NUID.nextGlobal();
    for (int i = 0; i < messages.size() - 1; i++) try {
      connection.requests()
          .publish(message(messages.get(i),
              batchHeaders(i == 0 ? expectingLast(expectedLast) : new Headers(), batchId, i)).build());
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
    return connection.requests().ask(message(message, headers), message.subject, ANSWER_TIMEOUT)
        .handle(WriteOutcome::of)
        .thenApply(this::noteOutcome);
  }

  private WriteOutcome noteOutcome(WriteOutcome outcome) {
    if (outcome instanceof WriteOutcome.WriteSuccess success) noteAcknowledged(success.seq());
    return outcome;
  }

  /** Notes that a majority of the servers has the stream up to this number. */
  void noteAcknowledged(long seq) {
    lastAcknowledged.accumulateAndGet(seq, Math::max);
  }

  private static NatsMessage.Builder message(StreamMessage message, Headers headers) {
    message.due.ifPresent(due -> headers.put(DUE, String.valueOf(due.toEpochMilli())));
    return NatsMessage.builder().subject(message.subject).headers(headers).data(message.body);
  }

  /** Deletes the messages of a subject up to this number of the stream, inclusive. */
  CompletableFuture<WriteOutcome> purge(String subject, long lastSeq) {
    String api = purgeTarget.subject();
    var call = json(api, "{\"filter\":\"" + subject + "\",\"seq\":" + (lastSeq + 1) + "}");
    var answer = purgeTarget.isByKeeper() ? connection.requests().askProgram(call, api, ANSWER_TIMEOUT)
        : connection.requests().ask(call, api, ANSWER_TIMEOUT);
    return answer.handle(WriteOutcome::of).thenApply(purgeTarget::noteOutcome);
  }

  /** Deletes the message with this number of the stream. */
  CompletableFuture<WriteOutcome> delete(long seq) {
    String api = "$JS.API.STREAM.MSG.DELETE." + stream;
    return connection.requests().ask(json(api, "{\"seq\":" + seq + ",\"no_erase\":true}"), api, ANSWER_TIMEOUT)
        .handle(WriteOutcome::of);
  }

  /** {@return the end of a sentence that says why the last purge failed; empty if it succeeded} */
  String purgeFailureText() {
    return purgeTarget.purgeFailureText();
  }

  /** {@return whether keepers purge for this program} */
  boolean isPurgedByKeeper() {
    return purgeTarget.isByKeeper();
  }

  private static NatsMessage.Builder json(String subject, String text) {
    return NatsMessage.builder().subject(subject).data(text, StandardCharsets.UTF_8);
  }

  /** Returns the due time of a pending message. */
  static Instant readDueTime(MessageInfo message) {
    try {
      return Instant.ofEpochMilli(Long.parseLong(message.getHeaders().getFirst(DUE)));
    } catch (RuntimeException malformed) {
      throw new StoreDamagedException("message " + message.getSeq() + " of stream " + message.getStream()
          + " does not say when it is due; take it away by the tools of NATS");
    }
  }

  // ---- consumers

  /** Creates a consumer that delivers a message to one program at a time, until acknowledged. */
  void createConsumer(String name, String subject, Duration ackLimit) {
    read(subject, () -> management.addOrUpdateConsumer(stream,
        ConsumerConfiguration.builder().durable(name).filterSubject(subject).ackPolicy(AckPolicy.Explicit)
            .ackWait(ackLimit).maxDeliver(-1).maxAckPending(-1).build()));
  }

  /** Returns the subject to which programs send their requests for messages of the consumer. */
  String requestSubject(String consumer) {
    return "$JS.API.CONSUMER.MSG.NEXT." + stream + "." + consumer;
  }

  /** Acknowledges a delivery; done when the server has confirmed that. */
  CompletableFuture<WriteOutcome> acknowledge(String subject) {
    return connection.requests().ask(json(subject, "+ACK"), subject, ANSWER_TIMEOUT)
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
  Optional<MessageInfo> lastMessage(String subject) {
    return lastMessages(List.of(subject)).stream().findFirst();
  }

  /** Returns the last messages of those subjects that have any, in no order. */
  List<MessageInfo> lastMessages(Collection<String> subjects) {
    var subjectList = List.copyOf(subjects);
    return read(subjectList.size() == 1 ? subjectList.getFirst() : subjectList.size() + " subjects", () -> {
      var messages = new ArrayList<MessageInfo>(subjectList.size());
      for (int i = 0; i < subjectList.size(); i += MAX_PARALLEL) {
        var requests = subjectList.subList(i, Math.min(subjectList.size(), i + MAX_PARALLEL)).stream()
            .map(subject -> get("\"last_by_subj\":\"" + subject + "\"")).toList();
        for (var request : requests) await(request).ifPresent(messages::add);
      }
      return messages;
    });
  }

  /** Returns the first message whose subject matches a filter, from a number of the stream on. */
  Optional<MessageInfo> nextMessage(String filter, long firstSeq) {
    return read(filter, () -> await(get("\"seq\":" + firstSeq + ",\"next_by_subj\":\"" + filter + "\"")));
  }

  private CompletableFuture<Message> get(String selector) {
    String api = "$JS.API.STREAM.MSG.GET." + stream;
    return connection.requests().ask(json(api, "{" + selector + "}"), api, ANSWER_TIMEOUT);
  }

  private Optional<MessageInfo> await(CompletableFuture<Message> request)
      throws IOException, JetStreamApiException, InterruptedException {
    var answer = new MessageInfo(awaitReply(request), stream, false);
    if (answer.hasError() && answer.getApiErrorCode() == NOT_FOUND) return Optional.empty();
    return Optional.of(answer.throwOnHasError());
  }

  /** Waits for the answer. An interrupted thread gets none, even if the answer has come. */
  static <T> T awaitAnswer(Future<T> request) throws InterruptedException, ExecutionException {
    if (Thread.interrupted()) throw new InterruptedException();
    return request.get();
  }

  /** Waits for the answer, and throws the failure of the transport. */
  private static <T> T awaitReply(CompletableFuture<T> request) throws InterruptedException {
    try {
      return awaitAnswer(request);
    } catch (ExecutionException failure) {
      throw failure.getCause() instanceof TransportException transportFailure ? transportFailure
          : new IllegalStateException(failure.getCause());
    }
  }

  /**
   * Returns the number of messages of each subject that has any, as the leader has them. A former
   * leader may answer before it knows that it was replaced. If its stream ends before the last
   * acknowledged number, the read is repeated.
   */
  Map<String, Long> countBySubject(String filter) {
    long acknowledged = lastAcknowledged.get();
    return read(filter, () -> {
      var state = management.getStreamInfo(stream, StreamInfoOptions.filterSubjects(filter)).getStreamState();
      if (state.getLastSequence() < acknowledged)
        throw new IOException("the server that answered has " + state.getLastSequence()
            + " messages of " + acknowledged + ": it was the leader before");
      return state.getSubjectMap();
    });
  }

  /**
   * Returns messages that match a filter, from a number on, in order; empty if there are no more.
   * If the server that answers finds none, it may be behind, so the leader is asked.
   */
  List<MessageInfo> page(String filter, long firstSeq, int max) {
    String api = "$JS.API.DIRECT.GET." + stream;
    String selector = "{\"seq\":" + firstSeq + ",\"next_by_subj\":\"" + filter + "\",\"batch\":" + max
        + ",\"max_bytes\":"
        + PAGE_BYTES + "}";
    var page = read(filter,
        () -> checkComplete(awaitReply(connection.requests().askForMany(json(api, selector), api, ANSWER_TIMEOUT))));
    return page.isEmpty() ? nextMessage(filter, firstSeq).stream().toList() : page;
  }

  /** Checks that no message between two others was lost in transit. */
  private List<MessageInfo> checkComplete(List<Message> messages) throws IOException {
    var page = messages.stream().map(message -> new MessageInfo(message, stream, true)).toList();
    for (int i = 1; i < page.size(); i++)
      if (page.get(i).getLastSeq() != page.get(i - 1).getSeq()) throw new IOException("a page came with a hole");
    return page;
  }

  private <T> T read(String subject, StreamRead<T> operation) {
    var deadline = newDeadline();
    for (int attempt = 1;; attempt++) try {
      return operation.read();
    } catch (JetStreamApiException | IOException | IllegalStateException | TransportException failure) {
      if (connection.isClosed()) throw new StoreClosedException("the connection to stream " + stream + " is closed");
      if (!isTransient(failure) || hasExpired(deadline)) throw new StoreReadException(
          subject + " cannot be read from stream " + stream + ": " + ConnectionErrors.text(failure), failure);
      pause(attempt);
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw new CancellationException("interrupted while " + subject + " was read from stream " + stream);
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
  static void pause(int attempt) {
    try {
      TimeUnit.MILLISECONDS.sleep(ThreadLocalRandom.current().nextInt(5, 10 + Math.min(190, 10 * attempt)));
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw new CancellationException("interrupted between two attempts");
    }
  }

  // ---- attempts

  /** Sends a write to the server once. */
  @FunctionalInterface
  interface WriteAttempt {
    CompletableFuture<WriteOutcome> make();
  }

  /**
   * The end of all attempts of a write or read, by the monotonic and the wall clock. Both continue
   * while a process is paused, but only the second while a machine is. The first to pass it counts.
   */
  record AttemptDeadline(long nanos, long millis) {}

  AttemptDeadline newDeadline() {
    return new AttemptDeadline(System.nanoTime() + limit.toNanos(), wallMillis() + limit.toMillis());
  }

  boolean hasExpired(AttemptDeadline deadline) {
    return System.nanoTime() - deadline.nanos > 0 || wallMillis() - deadline.millis > 0;
  }

  /** Returns the wall time in milliseconds. Tests override this to simulate a paused machine. */
  long wallMillis() {
    return System.currentTimeMillis();
  }

  /** Repeats an attempt until its outcome is final, or the deadline has passed. */
  WriteOutcome retryUntilSettled(WriteAttempt attempt) {
    var deadline = newDeadline(); // begins before the first attempt, as does the server's memory of ids
    return retryUntilSettled(attempt, attempt.make().join(), deadline);
  }

  /**
   * Repeats an attempt while its outcome is a retryable failure. Reads the clocks after the pause:
   * if the machine was paused, the server may have forgotten the id of the first attempt.
   */
  WriteOutcome retryUntilSettled(WriteAttempt attempt, WriteOutcome firstOutcome, AttemptDeadline deadline) {
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
