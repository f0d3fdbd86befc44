package io.fibry.nats;

import io.fibry.store.StoreBusyException;
import io.fibry.store.StoreClosedException;
import io.fibry.store.StoreException;
import io.fibry.store.StoreFullException;
import io.fibry.store.StoreWriteException;
import io.nats.client.NUID;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/** It has a keeper for each actor that lives, or is being stored. */
final class StreamStore extends NatsStore {
  private static final int PAGE = 1_000;
  private static final int MESSAGE_OVERHEAD = 64 << 10; // bytes of a message, besides what actors give
  private static final int HEADER_BYTES = 8 << 10;

  private final JetStreamLog log;
  private final StoreSubjects subjects;
  private final Options options;
  private final Runnable closing; // closes the parts that belong to this store alone
  private final String self = NUID.nextGlobal();
  private final AtomicLong numbers = new AtomicLong();
  private final AtomicLong lives = new AtomicLong();
  private final Semaphore byteBudget; // in bytes
  private final Map<ActorId, TurnWriter> writers = new ConcurrentHashMap<>();
  private final Set<StreamHistory> histories = ConcurrentHashMap.newKeySet(); // that are open
  private final StreamHistoryCleaner historyCleaner = new StreamHistoryCleaner(this);
  private volatile boolean closed;

  StreamStore(JetStreamLog log, StoreSubjects subjects, Options options, Runnable closing) {
    this.log = log;
    this.subjects = subjects;
    this.options = options;
    this.closing = closing;
    this.byteBudget = new Semaphore(options.maxPendingBytes(), true);
  }

  // ---- for its parts

  JetStreamLog log() {
    return log;
  }

  StoreSubjects subjects() {
    return subjects;
  }

  StreamHistoryCleaner historyCleaner() {
    return historyCleaner;
  }

  Duration pollInterval() {
    return options.pollInterval();
  }

  /** How many bytes of turns a message may have. */
  int maxBytes() {
    return log.maxBytes() - MESSAGE_OVERHEAD;
  }

  /** With all that is said about them. */
  int maxEntryBytes() {
    return log.maxBytes() - HEADER_BYTES;
  }

  boolean isClosed() {
    return closed;
  }

  /**
   * Returns a number of a life that no other life here has, after a life that the server knows.
   */
  long nextLife(long before) {
    return lives.updateAndGet(last -> Math.max(last, before) + 1);
  }

  /** A name for an entry or a message that no other one has. */
  String uniqueName() {
    return self + "." + numbers.incrementAndGet();
  }

  /** Turns were stored. */
  void onStored(String kind) {
    for (var one : histories) if (one.kind().equals(kind)) one.wake();
  }

  void removeHistory(StreamHistory history) {
    histories.remove(history);
  }

  // ---- failures

  StoreException refusal(Throwable failure) {
    var cause = failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
    return cause instanceof StoreException known ? known
        : new StoreWriteException(this + " failed: " + ConnectionErrors.text(cause), cause);
  }

  /** It may be there. */
  StoreBusyException outcomeUnknown(Throwable failure, String what) {
    return new StoreBusyException(this + " failed, and nobody knows whether it has " + what + ": "
        + ConnectionErrors.text(failure), failure);
  }

  StoreException refusal(WriteOutcome outcome, String what) {
    return switch (outcome) {
      case WriteOutcome.RetryableFailure again when again.isUnknown() -> new StoreBusyException(
          "nobody knows whether " + this + " has " + what + ": " + again.reason());
      case WriteOutcome.RetryableFailure again -> new StoreWriteException(
          this + " does not take " + what + ", after " + options.requestLimit() + ": " + again.reason(), null);
      case WriteOutcome.WriteRejection refused when refused.isFull() -> new StoreFullException(
          this + " has no room for " + what + ": " + refused.reason(), null);
      case WriteOutcome.WriteRejection refused -> new StoreWriteException(
          this + " refuses " + what + ": " + refused.reason(), null);
      default -> throw new AssertionError(outcome);
    };
  }

  private StoreClosedException closed() {
    return new StoreClosedException(this + " is closed");
  }

  private void checkOpen() {
    if (closed) throw closed();
  }

  // ---- tasks

  private <T> StoreTask<T> add(ActorId actor, StoreTask<T> task) {
    if (task.size() > options.maxPendingBytes())
      throw new IllegalArgumentException("what " + actor + " does or gets takes "
          + task.size() + " bytes; " + this + " has room for " + options.maxPendingBytes() + ", as its options say");
    try { // an interrupt matters only to those who wait, and none overtakes them
      if (byteBudget.hasQueuedThreads() || !byteBudget.tryAcquire(task.size())) byteBudget.acquire(task.size());
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw new CancellationException(actor + " was interrupted while it waited for room in " + this);
    }
    task.whenComplete((value, failure) -> byteBudget.release(task.size()));
    if (closed) { // the closing thread waits for all others
      task.completeExceptionally(closed());
      return task;
    }
    boolean added = false;
    try {
      writers.compute(actor, (same, there) -> {
        var writer = there == null ? new TurnWriter(this, actor, () -> retire(actor)) : there;
        writer.add(task);
        return writer;
      });
      added = true;
    } finally {
      if (!added) task.cancel(false);
    }
    return task;
  }

  private void retire(ActorId actor) {
    writers.computeIfPresent(actor, (same, writer) -> writer.isIdle() ? null : writer);
  }

  private <T> T await(ActorId actor, StoreTask<T> task) {
    checkOpen();
    var writer = writers.get(actor);
    if (writer != null && writer.storesTurns(Thread.currentThread()))
      throw new IllegalStateException(actor + " cannot be read by what its own answer runs; read on another thread");
    try {
      return JetStreamLog.answer(add(actor, task));
    } catch (InterruptedException interrupt) {
      task.cancel(false);
      Thread.currentThread().interrupt();
      throw new CancellationException("interrupted while " + actor + " was read from " + this);
    } catch (ExecutionException failed) {
      throw refusal(failed.getCause());
    }
  }

  // ---- turns

  @Override
  public LoadedActor load(ActorId actor) {
    return await(actor, new StoreTask.LoadTask());
  }

  @Override
  public List<StoredTurn> turns(ActorId actor) {
    var found = new ArrayList<StoredTurn>();
    try (var turns = new StreamHistory(this, Objects.requireNonNull(actor, "actor"))) {
      for (var page = turns.poll(); !page.isEmpty(); page = turns.poll()) found.addAll(page);
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw new CancellationException("interrupted while the turns of " + actor + " were read from " + this);
    }
    return found;
  }

  @Override
  public long beginLife(ActorId actor, long last) {
    return await(actor, new StoreTask.BeginLifeTask(last));
  }

  @Override
  public void endLife(ActorId actor, long life) {
    if (!closed) add(actor, new StoreTask.EndLifeTask(life));
  }

  @Override
  public CompletionStage<Void> append(Turn turn) {
    return store(turn, false);
  }

  @Override
  public CompletionStage<Void> end(Turn turn) {
    return store(turn, true);
  }

  private CompletionStage<Void> store(Turn turn, boolean ends) {
    check("a turn of ", turn.actor(), turn.body());
    for (var message : turn.outbox()) check("a message for ", message.to(), message.body());
    if (turn.outbox().size() > TurnWriter.maxSends()) throw new IllegalArgumentException("a turn of " + turn.actor()
        + " sends " + turn.outbox().size() + " messages; " + this + " takes at most " + TurnWriter.maxSends());
    return add(turn.actor(), new StoreTask.AppendTask(turn, ends));
  }

  /** Each actor has its own lane. */
  @Override
  public boolean preservesGlobalOrder() {
    return false;
  }

  @Override
  public void snapshot(Turn turn) {
    check("a snapshot of ", turn.actor(), turn.body());
    if (!closed) add(turn.actor(), new StoreTask.SnapshotTask(turn));
  }

  private void check(String what, ActorId actor, byte[] body) {
    if (body.length > maxBytes()) throw new IllegalArgumentException(what + actor + " takes " + body.length
        + " bytes; " + this + " takes at most " + maxBytes() + ", since max_payload of its servers is "
        + log.maxBytes());
  }

  // ---- what waits

  @Override
  public CompletionStage<Boolean> enqueue(PendingMessage message, int max) {
    check("a message for ", message.to(), message.body());
    return add(message.to(), new StoreTask.EnqueueTask(message, max));
  }

  /**
   * For an actor that does not live here, messages that its last turn has done may still be
   * present.
   */
  private PendingMessages pendingMessages(ActorId actor) {
    checkOpen();
    var writer = writers.get(actor);
    if (writer != null && writer.isAlive()) return writer.pendingMessages();
    var pendingMessages = new PendingMessages(log, subjects, actor);
    log.lastMessage(subjects.turns(actor)).map(JournalEntry::read)
        .ifPresent(last -> pendingMessages.removeHandled(last.done()));
    return pendingMessages;
  }

  @Override
  public List<PendingMessage> pending(ActorId actor, Instant until, int max) {
    return pendingMessages(actor).pending(until, max);
  }

  @Override
  public Optional<Instant> dueTime(ActorId actor, String id) {
    return pendingMessages(actor).dueTime(id);
  }

  @Override
  public Optional<Instant> nextDueTime(ActorId actor, Instant after) {
    return pendingMessages(actor).nextDueTime(Objects.requireNonNull(after, "after"));
  }

  /** If an id was sent again, the former message may be told, too. */
  @Override
  public void forEachPending(String kind, BiConsumer<ActorId, Instant> reader) {
    checkOpen();
    String filter = subjects.messagesOf(kind);
    for (var page = log.page(filter, 1, PAGE); !page.isEmpty(); page =
        log.page(filter, page.getLast().getSeq() + 1, PAGE))
      for (var one : page) {
        var to = StoreSubjects.actor(one.getSubject());
        var writer = writers.get(to);
        if (writer == null
            || !writer.pendingMessages().isBeingRemoved(StoreSubjects.message(one.getSubject()), one.getSeq()))
          reader.accept(to, JetStreamLog.dueTime(one));
      }
  }

  /** A subject with one message may say only that an actor was read. */
  @Override
  public void forEachActor(Consumer<ActorId> reader) {
    checkOpen();
    var turns = log.subjects(subjects.allTurns() + ">");
    var ids = turns.entrySet().stream().filter(one -> one.getValue() > 1).map(one -> StoreSubjects.actor(one.getKey()))
        .collect(Collectors.toSet());
    var single = turns.entrySet().stream().filter(one -> one.getValue() == 1).map(Map.Entry::getKey).toList();
    for (var one : log.lastMessages(single))
      if (JournalEntry.read(one).number() > 0) ids.add(StoreSubjects.actor(one.getSubject()));
    for (var one : log.subjects(subjects.allMessages() + ">").keySet()) ids.add(StoreSubjects.actor(one));
    ids.forEach(reader);
  }

  // ---- history

  @Override
  public History history(String kind, String after) {
    checkOpen();
    var history = new StreamHistory(this, kind, after);
    histories.add(history);
    return history;
  }

  @Override
  public void setRetention(String kind, Duration age) {
    // A keeper could not know whether the age is the right one.
    if (!log.purgesThroughKeeper()) historyCleaner.begin(kind, age);
  }

  @Override
  public InstantSource clock() {
    return options.clock();
  }

  // ---- the whole

  @Override
  public void close() {
    if (writers.values().stream().anyMatch(one -> one.isOwn(Thread.currentThread())))
      throw new IllegalStateException("a store cannot be closed by what an answer runs; close it on another thread");
    boolean first = !closed;
    closed = true;
    byteBudget.acquireUninterruptibly(options.maxPendingBytes()); // when no turn is being stored
    byteBudget.release(options.maxPendingBytes());
    histories.forEach(StreamHistory::wake);
    if (first) closing.run();
  }

  @Override
  public String toString() {
    return "the store in stream " + subjects.stream();
  }
}
