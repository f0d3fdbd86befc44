package io.fibry.nats;

import io.fibry.nats.connection.NatsConnection;
import io.fibry.nats.connection.StoreSubjects;
import io.fibry.nats.store.PendingMessages;
import io.fibry.nats.stream.JetStreamLog;
import io.fibry.nats.stream.PurgeTarget;
import io.fibry.nats.stream.WriteOutcome;
import io.fibry.store.Store;
import io.fibry.store.StoreReadException;
import io.fibry.store.spi.StoreBackend;
import io.fibry.support.Patience;
import io.nats.client.api.MessageInfo;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * Opens stores whose connection can be closed, whose server can be unavailable, and whose writes
 * can fail. Pages (several messages of a stream, read at once) can come from a replica that
 * lacks the latest messages.
 */
public final class FaultyStores {
  private FaultyStores() {}

  /** Replaces a write, or runs code before or after it. */
  @FunctionalInterface
  private interface Fault {
    CompletableFuture<WriteOutcome> write(Supplier<CompletableFuture<WriteOutcome>> operation);
  }

  private static final String NO_SERVER = "there is no server, as the test has asked for";

  private static final class FaultyLog extends JetStreamLog {
    private final ConcurrentLinkedQueue<Fault> faults = new ConcurrentLinkedQueue<>();

    private final ConcurrentLinkedQueue<Runnable> beforePages = new ConcurrentLinkedQueue<>();
    private final ConcurrentLinkedQueue<Runnable> beforeSingleReads = new ConcurrentLinkedQueue<>();
    private final ConcurrentLinkedQueue<CompletableFuture<WriteOutcome>> purges = new ConcurrentLinkedQueue<>();
    private final AtomicInteger refusals = new AtomicInteger();
    private volatile boolean failsPurges;
    private volatile boolean isDown;
    private volatile int byteLimit = Integer.MAX_VALUE;
    private volatile Duration clockAdvance = Duration.ZERO;
    private volatile int pageLimit = Integer.MAX_VALUE;
    // The messages of a replica that is behind, or null if pages come from the servers
    private volatile List<MessageInfo> replicaMessages;

    FaultyLog(NatsConnection connection, String stream, Duration limit, PurgeTarget purges) throws IOException {
      super(connection, stream, limit, purges);
    }

    @Override
    public int maxBytes() {
      return Math.min(byteLimit, super.maxBytes());
    }

    @Override
    protected long wallMillis() {
      return super.wallMillis() + clockAdvance.toMillis();
    }

    @Override
    public CompletableFuture<WriteOutcome> addAll(List<StreamMessage> messages, long expectedLast) {
      return write(() -> super.addAll(messages, expectedLast));
    }

    @Override
    public CompletableFuture<WriteOutcome> add(StreamMessage message, String id, Duration answerLimit) {
      return write(() -> super.add(message, id, answerLimit));
    }

    @Override
    public CompletableFuture<WriteOutcome> replace(StreamMessage message, long expectedLast) {
      return write(() -> super.replace(message, expectedLast));
    }

    @Override
    public CompletableFuture<WriteOutcome> delete(long number) {
      return isDown ? refusal() : super.delete(number);
    }

    @Override
    public CompletableFuture<WriteOutcome> acknowledge(String subject) {
      return isDown ? refusal() : super.acknowledge(subject);
    }

    @Override
    public CompletableFuture<WriteOutcome> purge(String subject, long lastNumber) {
      if (isDown) return refusal();
      if (failsPurges)
        return CompletableFuture.completedFuture(new WriteOutcome.RetryableFailure("made up, for a test", false));
      var purge = super.purge(subject, lastNumber);
      purges.add(purge);
      return purge;
    }

    private CompletableFuture<WriteOutcome> write(Supplier<CompletableFuture<WriteOutcome>> operation) {
      if (isDown) return refusal();
      var fault = faults.poll();
      return fault == null ? operation.get() : fault.write(operation);
    }

    /** Returns the outcome of an operation that was never sent. */
    private CompletableFuture<WriteOutcome> refusal() {
      refusals.incrementAndGet();
      return CompletableFuture.completedFuture(new WriteOutcome.RetryableFailure(NO_SERVER, false));
    }

    /** Repeats a read until the server is available, or throws when the limit is over. */
    private void awaitServer() {
      var deadline = newDeadline();
      for (int attempt = 1; isDown; attempt++) {
        refusals.incrementAndGet();
        if (hasExpired(deadline)) throw new StoreReadException(NO_SERVER, null);
        pause(attempt);
      }
    }

    @Override
    public List<MessageInfo> lastMessages(Collection<String> subjects) {
      awaitServer();
      return super.lastMessages(subjects);
    }

    @Override
    public Optional<MessageInfo> nextMessage(String filter, long firstNumber) {
      awaitServer();
      var task = beforeSingleReads.poll();
      if (task != null) task.run();
      return super.nextMessage(filter, firstNumber);
    }

    @Override
    public Map<String, Long> countBySubject(String filter) {
      awaitServer();
      return super.countBySubject(filter);
    }

    @Override
    public List<MessageInfo> page(String filter, long firstNumber, int maxMessages) {
      awaitServer();
      var task = beforePages.poll();
      if (task != null) task.run();
      var messages = replicaMessages;
      if (messages == null) return super.page(filter, firstNumber, Math.min(maxMessages, pageLimit));
      var page = messages.stream().filter(message -> message.getSeq() >= firstNumber)
          .limit(Math.min(maxMessages, pageLimit)).toList();
      // Like JetStreamLog.page: if the page is empty, the next message comes from the server
      return page.isEmpty() ? nextMessage(filter, firstNumber).stream().toList() : page;
    }
  }

  /** A store, and the faults that a test can cause in it. */
  public static final class FaultyStore {
    private final StoreBackend store;
    private final NatsConnection connection;
    private final FaultyLog log;
    private final StoreSubjects subjects;

    private FaultyStore(StoreBackend store, NatsConnection connection, FaultyLog log, StoreSubjects subjects) {
      this.store = store;
      this.subjects = subjects;
      this.connection = connection;
      this.log = log;
    }

    public StoreBackend store() {
      return store;
    }

    /** Closes the connection for good. */
    public void closeConnection() {
      connection.close();
    }

    /** Lets the next writes of turns, messages and new lives fail. */
    public void failNext(int writes) {
      for (int i = 0; i < writes; i++) log.faults.add(
          operation -> CompletableFuture
              .completedFuture(new WriteOutcome.WriteRejection("made up, for a test", false)));
    }

    /** Stores the next writes, but loses the answers of the server. */
    void loseAnswers(int writes) {
      for (int i = 0; i < writes; i++)
        log.faults.add(operation -> operation.get()
            .thenApply(outcome -> new WriteOutcome.RetryableFailure("made up, for a test", true)));
    }

    /**
     * Stores the next write, and holds its answer back. After that, this store loses the answers of
     * the next {@code lostAnswers} writes. The answer of the write after these writes releases the
     * held answer.
     */
    void delayAnswer(int lostAnswers) {
      var isReleased = new CompletableFuture<Void>();
      log.faults.add(operation -> operation.get().thenCombine(isReleased, (outcome, released) -> outcome));
      loseAnswers(lostAnswers);
      log.faults.add(operation -> operation.get().whenComplete((outcome, failure) -> isReleased.complete(null)));
    }

    /**
     * Acts as if the machine were suspended after the next write is stored, and before its answer
     * arrives. The answer is lost.
     */
    void suspendAfterWrite(Duration time) {
      log.faults.add(operation -> operation.get().thenApply(outcome -> {
        log.clockAdvance = time;
        return new WriteOutcome.RetryableFailure("made up, for a test", true);
      }));
    }

    /** Loses the next writes, so that the caller cannot know whether they are stored. */
    void loseWrites(int writes) {
      for (int i = 0; i < writes; i++)
        log.faults.add(operation -> CompletableFuture
            .completedFuture(new WriteOutcome.RetryableFailure("made up, for a test", true)));
    }

    /** Drops the planned faults of writes. */
    void allowWrites() {
      log.faults.clear();
    }

    /** Lets purges of handled messages and old turns fail. */
    public void failPurges() {
      log.failsPurges = true;
    }

    public void allowPurges() {
      log.failsPurges = false;
    }

    /** Limits the size of the messages that the servers accept. */
    void limitMessages(int bytes) {
      log.byteLimit = bytes;
    }

    /** Pretends that the servers have acknowledged a message that their leader does not have. */
    void pretendAcknowledged(long seq) {
      log.noteAcknowledged(seq);
    }

    /** Makes the server unavailable, or available again. */
    public void setDown(boolean isDown) {
      log.isDown = isDown;
    }

    /** Waits until that many more attempts have failed because there is no server. */
    public void awaitRefusals(int times) {
      int refusalsBefore = log.refusals.get();
      Patience.eventually(() -> log.refusals.get() >= refusalsBefore + times);
    }

    /** Limits the number of messages in a page of a history. */
    void limitPages(int messages) {
      log.pageLimit = messages;
    }

    /** Runs the task before the page with this number is read. The next page has the number 1. */
    void runBeforePage(int number, Runnable task) {
      for (int i = 1; i < number; i++) log.beforePages.add(() -> {});
      log.beforePages.add(task);
    }

    /** Runs the task before the second single message is read. */
    public void runBeforeSecondSingleRead(Runnable task) {
      log.beforeSingleReads.addAll(List.of(() -> {}, task));
    }

    /**
     * Returns an object for the pending messages of an actor, with its own list of handled
     * messages.
     */
    public PendingMessages pendingMessages(Store.ActorId id) {
      return new PendingMessages(log, subjects, id);
    }

    /** Returns how many purges have been sent, and are not answered yet. */
    public long countRunningPurges() {
      return log.purges.stream().filter(purge -> !purge.isDone()).count();
    }

    /** Lets all pages come from a replica, which gets no more messages. */
    void freezePages(String filter) {
      log.replicaMessages = List.copyOf(log.page(filter, 1, 256));
    }

    /** Lets the replica catch up. */
    void thawPages() {
      log.replicaMessages = null;
    }

    /** Runs the task before the next write. */
    void runBeforeWrite(Runnable task) {
      log.faults.add(operation -> {
        task.run();
        return operation.get();
      });
    }
  }

  public static FaultyStore open(NatsNetwork network, String app, UnaryOperator<NatsStore.Options> configure) {
    var options = configure.apply(NatsStore.Options.DEFAULT.withRequestLimit(Duration.ofSeconds(10)));
    var subjects = new StoreSubjects(app);
    var connector = network.connector();
    var connection = connector.openConnection(app, "test");
    try {
      var log = new FaultyLog(connection, subjects.streamName(), options.requestLimit(), connector.purgeTarget(app));
      log.createStream(subjects.allFilters(), 1, connection.identity().role());
      return new FaultyStore(new StreamStore(log, subjects, options, connection::close), connection, log, subjects);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}
