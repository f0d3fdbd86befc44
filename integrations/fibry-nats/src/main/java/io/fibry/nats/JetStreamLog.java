package io.fibry.nats;

import io.fibry.cluster.TransportException;
import io.fibry.cluster.TransportException.Failure;
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
 * A stream of JetStream, and what can be asked of it. Single messages are
 * read from the leader, since other servers may be behind. Thread-safe.
 */
class JetStreamLog {
  private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(5); // with one answer
  private static final int NOT_FOUND = 10037;
  private static final int MAX_PARALLEL = 256; // requests
  private static final int MAX_BATCHES = 12; // batches at the same time; the server takes 50 of all programs
  private static final int PAGE_BYTES = 4 << 20;
  private static final String DUE = "Fb-Due"; // milliseconds

  /**
   * A message that is to be stored.
   *
   * @param due the due time of a message that waits for its actor
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
  private final AtomicLong lastAcknowledged = new AtomicLong(); // number in the stream that was acknowledged here
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

  void make(String[] subjects, int replicas, Role role) throws IOException {
    StreamSetup.create(management, role,
        StreamConfiguration.builder().name(stream).subjects(subjects).replicas(replicas)
            .duplicateWindow(StreamSetup.DEDUPLICATION_WINDOW).allowAtomicPublish(true).allowDirect(true).build());
  }

  int maxBytes() {
    return connection.maxBytes();
  }

  // ---- writing

  /** Once, though it is tried again with the same id within two minutes. */
  CompletableFuture<WriteOutcome> add(StreamMessage one, String id) {
    return publish(one, new Headers().put("Nats-Msg-Id", id));
  }

  /** If the last message of its subject has this number, which nobody reads from then on. */
  CompletableFuture<WriteOutcome> replace(StreamMessage one, long before) {
    return publish(one, expecting(before)).thenApply(stored -> {
      // otherwise the next one does
      if (stored instanceof WriteOutcome.WriteSuccess && before > 0) purge(one.subject, before);
      return stored;
    });
  }

  /**
   * All, or none: if the last message of the first one's subject has this number. Returns the
   * number of the last message that was stored.
   */
  CompletableFuture<WriteOutcome> addAll(List<StreamMessage> all, long before) {
    if (all.size() == 1) return publish(all.getFirst(), expecting(before));
    batches.acquireUninterruptibly();
    boolean begun = false;
    try {
      var stored = batch(all, before).whenComplete((value, failure) -> batches.release());
      begun = true;
      return stored;
    } finally {
      if (!begun) batches.release();
    }
  }

  private static Headers expecting(long before) {
    return new Headers().put("Nats-Expected-Last-Subject-Sequence", String.valueOf(before));
  }

  private CompletableFuture<WriteOutcome> batch(List<StreamMessage> all, long before) {
    String id = NUID.nextGlobal();
    for (int i = 0; i < all.size() - 1; i++) try {
      connection.requests()
          .publish(message(all.get(i), part(i == 0 ? expecting(before) : new Headers(), id, i)).build());
    } catch (TransportException cut) {
      return CompletableFuture.completedFuture(new WriteOutcome.RetryableFailure(Lines.message(cut), false));
    }
    return publish(all.getLast(), part(new Headers(), id, all.size() - 1).put("Nats-Batch-Commit", "1"));
  }

  private static Headers part(Headers headers, String batch, int index) {
    return headers.put("Nats-Batch-Id", batch).put("Nats-Batch-Sequence", String.valueOf(index + 1));
  }

  private CompletableFuture<WriteOutcome> publish(StreamMessage one, Headers headers) {
    return connection.requests().ask(message(one, headers), one.subject, ANSWER_TIMEOUT).handle(WriteOutcome::of)
        .thenApply(this::noteAcknowledged);
  }

  private WriteOutcome noteAcknowledged(WriteOutcome outcome) {
    if (outcome instanceof WriteOutcome.WriteSuccess here) acknowledged(here.seq());
    return outcome;
  }

  /** A majority of the servers has the stream up to this number. */
  void acknowledged(long seq) {
    lastAcknowledged.accumulateAndGet(seq, Math::max);
  }

  private static NatsMessage.Builder message(StreamMessage one, Headers headers) {
    one.due.ifPresent(due -> headers.put(DUE, String.valueOf(due.toEpochMilli())));
    return NatsMessage.builder().subject(one.subject).headers(headers).data(one.body);
  }

  /** Takes messages away, up to this one. */
  CompletableFuture<WriteOutcome> purge(String subject, long last) {
    String api = purgeTarget.subject();
    var call = json(api, "{\"filter\":\"" + subject + "\",\"seq\":" + (last + 1) + "}");
    var answer = purgeTarget.isByKeeper() ? connection.requests().askProgram(call, api, ANSWER_TIMEOUT)
        : connection.requests().ask(call, api, ANSWER_TIMEOUT);
    return answer.handle(WriteOutcome::of).thenApply(purgeTarget::logRefusal);
  }

  /** Takes one away. */
  CompletableFuture<WriteOutcome> delete(long number) {
    String api = "$JS.API.STREAM.MSG.DELETE." + stream;
    return connection.requests().ask(json(api, "{\"seq\":" + number + ",\"no_erase\":true}"), api, ANSWER_TIMEOUT)
        .handle(WriteOutcome::of);
  }

  /** {@return the end of a sentence, or nothing} */
  String purgeFailureText() {
    return purgeTarget.purgeFailureText();
  }

  /** {@return whether keepers purge for this program} */
  boolean purgesThroughKeeper() {
    return purgeTarget.isByKeeper();
  }

  private static NatsMessage.Builder json(String subject, String text) {
    return NatsMessage.builder().subject(subject).data(text, StandardCharsets.UTF_8);
  }

  /** Returns the due time of a message that waits for its actor. */
  static Instant dueTime(MessageInfo message) {
    try {
      return Instant.ofEpochMilli(Long.parseLong(message.getHeaders().getFirst(DUE)));
    } catch (RuntimeException foreign) {
      throw new StoreDamagedException("message " + message.getSeq() + " of stream " + message.getStream()
          + " does not say when it is due; take it away by the tools of NATS");
    }
  }

  // ---- giving out

  /** Makes a consumer that gives each message to one program, until it is acknowledged. */
  void createConsumer(String name, String subject, Duration givenUp) {
    read(subject, () -> management.addOrUpdateConsumer(stream,
        ConsumerConfiguration.builder().durable(name).filterSubject(subject).ackPolicy(AckPolicy.Explicit)
            .ackWait(givenUp).maxDeliver(-1).maxAckPending(-1).build()));
  }

  /** Where programs ask it. */
  String requestSubject(String consumer) {
    return "$JS.API.CONSUMER.MSG.NEXT." + stream + "." + consumer;
  }

  /** Until the server has heard it. */
  CompletableFuture<WriteOutcome> acknowledge(String subject) {
    return connection.requests().ask(json(subject, "+ACK"), subject, ANSWER_TIMEOUT)
        .handle((none, failure) -> failure == null ? new WriteOutcome.WriteSuccess(0) : WriteOutcome.of(none, failure));
  }

  // ---- reading

  /** Reads something, or throws what it meets. */
  @FunctionalInterface
  private interface StreamRead<T> {
    T read() throws IOException, JetStreamApiException, InterruptedException;
  }

  /** The last message of a subject. */
  Optional<MessageInfo> lastMessage(String subject) {
    return lastMessages(List.of(subject)).stream().findFirst();
  }

  /** Returns the last messages of those subjects that have any, in no order. */
  List<MessageInfo> lastMessages(Collection<String> subjects) {
    var all = List.copyOf(subjects);
    return read(all.size() == 1 ? all.getFirst() : "what waits", () -> {
      var found = new ArrayList<MessageInfo>(all.size());
      for (int i = 0; i < all.size(); i += MAX_PARALLEL) {
        var asked = all.subList(i, Math.min(all.size(), i + MAX_PARALLEL)).stream()
            .map(subject -> get("\"last_by_subj\":\"" + subject + "\"")).toList();
        for (var one : asked) await(one).ifPresent(found::add);
      }
      return found;
    });
  }

  /** The next message that a filter lets through, from a number on. */
  Optional<MessageInfo> nextMessage(String filter, long from) {
    return read(filter, () -> await(get("\"seq\":" + from + ",\"next_by_subj\":\"" + filter + "\"")));
  }

  private CompletableFuture<Message> get(String which) {
    String api = "$JS.API.STREAM.MSG.GET." + stream;
    return connection.requests().ask(json(api, "{" + which + "}"), api, ANSWER_TIMEOUT);
  }

  private Optional<MessageInfo> await(CompletableFuture<Message> asked)
      throws IOException, JetStreamApiException, InterruptedException {
    var found = new MessageInfo(awaitAnswer(asked), stream, false);
    if (found.hasError() && found.getApiErrorCode() == NOT_FOUND) return Optional.empty();
    return Optional.of(found.throwOnHasError());
  }

  /** An interrupted thread gets no answer, even if the answer has come. */
  static <T> T answer(Future<T> asked) throws InterruptedException, ExecutionException {
    if (Thread.interrupted()) throw new InterruptedException();
    return asked.get();
  }

  private static <T> T awaitAnswer(CompletableFuture<T> asked) throws InterruptedException {
    try {
      return answer(asked);
    } catch (ExecutionException failed) {
      throw failed.getCause() instanceof TransportException lost ? lost : new IllegalStateException(failed.getCause());
    }
  }

  /**
   * Subjects with messages, and how many, as the leader has them. A server that was the leader, and
   * does not know that it no longer is, may answer first. It is asked again if it lacks messages
   * that were acknowledged here.
   */
  Map<String, Long> subjects(String filter) {
    long known = lastAcknowledged.get();
    return read(filter, () -> {
      var state = management.getStreamInfo(stream, StreamInfoOptions.filterSubjects(filter)).getStreamState();
      if (state.getLastSequence() < known)
        throw new IOException("the server that answered has " + state.getLastSequence()
            + " messages of " + known + ": it was the leader before");
      return state.getSubjectMap();
    });
  }

  /**
   * Returns messages that match a filter, from a number on, in order; empty if there are no more.
   * Where the server that answers is behind, the leader is asked.
   */
  List<MessageInfo> page(String filter, long from, int max) {
    String api = "$JS.API.DIRECT.GET." + stream;
    String what = "{\"seq\":" + from + ",\"next_by_subj\":\"" + filter + "\",\"batch\":" + max + ",\"max_bytes\":"
        + PAGE_BYTES + "}";
    var page = read(filter,
        () -> checked(awaitAnswer(connection.requests().askForMany(json(api, what), api, ANSWER_TIMEOUT))));
    return page.isEmpty() ? nextMessage(filter, from).stream().toList() : page;
  }

  /** Checks that no message was lost on the way here. */
  private List<MessageInfo> checked(List<Message> messages) throws IOException {
    var page = messages.stream().map(message -> new MessageInfo(message, stream, true)).toList();
    for (int i = 1; i < page.size(); i++)
      if (page.get(i).getLastSeq() != page.get(i - 1).getSeq()) throw new IOException("a page came with a hole");
    return page;
  }

  private <T> T read(String what, StreamRead<T> reading) {
    var end = newDeadline();
    for (int times = 1;; times++) try {
      return reading.read();
    } catch (JetStreamApiException | IOException | IllegalStateException | TransportException failed) {
      if (connection.isClosed()) throw new StoreClosedException("the connection to stream " + stream + " is closed");
      if (!isTransient(failed) || hasExpired(end)) throw new StoreReadException(
          what + " cannot be read from stream " + stream + ": " + ConnectionErrors.text(failed), failed);
      pause(times);
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw new CancellationException("interrupted while " + what + " was read from stream " + stream);
    }
  }

  private static boolean isTransient(Exception failed) {
    return switch (failed) {
      case JetStreamApiException refused -> refused.getErrorCode() == 503;
      case TransportException lost -> lost.failure() != Failure.DENIED;
      default -> true;
    };
  }

  /** They grow. */
  static void pause(int times) {
    try {
      TimeUnit.MILLISECONDS.sleep(ThreadLocalRandom.current().nextInt(5, 10 + Math.min(190, 10 * times)));
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw new CancellationException("interrupted between two attempts");
    }
  }

  // ---- until it is known

  /** An attempt. */
  @FunctionalInterface
  interface WriteAttempt {
    CompletableFuture<WriteOutcome> make();
  }

  /**
   * When what begins now is over, by both clocks: a process that is stopped stops neither, and a
   * machine that is suspended stops the first. Whichever says that it is over is believed.
   */
  record AttemptDeadline(long nanos, long millis) {}

  AttemptDeadline newDeadline() {
    return new AttemptDeadline(System.nanoTime() + limit.toNanos(), wallMillis() + limit.toMillis());
  }

  boolean hasExpired(AttemptDeadline end) {
    return System.nanoTime() - end.nanos > 0 || wallMillis() - end.millis > 0;
  }

  /** Tests suspend their machine. */
  long wallMillis() {
    return System.currentTimeMillis();
  }

  /** Tries as long as that may help. */
  WriteOutcome settle(WriteAttempt attempt) {
    var end = newDeadline(); // the server knows ids from the first attempt on
    return settle(attempt, attempt.make().join(), end);
  }

  /**
   * Settles an attempt whose first answer has come. It looks at the clocks after the pause: if the
   * machine was suspended, the server may have forgotten the id of the first attempt.
   */
  WriteOutcome settle(WriteAttempt attempt, WriteOutcome first, AttemptDeadline end) {
    boolean unknown = false; // an attempt may have stored it
    var stored = first;
    for (int times = 1; stored instanceof WriteOutcome.RetryableFailure again; times++) {
      unknown |= again.isUnknown();
      if (!hasExpired(end)) pause(times);
      if (connection.isClosed() || hasExpired(end)) return new WriteOutcome.RetryableFailure(again.reason(), unknown);
      stored = attempt.make().join();
    }
    if (!unknown) return stored;
    return switch (stored) {
      case WriteOutcome.WriteConflict outdated -> new WriteOutcome.WriteConflict(true);
      case WriteOutcome.WriteRejection refused -> new WriteOutcome.RetryableFailure(refused.reason(), true);
      default -> stored;
    };
  }
}
