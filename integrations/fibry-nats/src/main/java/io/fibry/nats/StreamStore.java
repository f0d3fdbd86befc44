package io.fibry.nats;

import io.fibry.nats.connection.RequestMultiplexer;
import io.fibry.nats.connection.StoreSubjects;
import io.fibry.nats.store.JournalEntry;
import io.fibry.nats.store.PendingMessages;
import io.fibry.nats.store.StoreContext;
import io.fibry.nats.store.StoreTasks;
import io.fibry.nats.store.StreamHistory;
import io.fibry.nats.store.StreamHistoryCleaner;
import io.fibry.nats.store.TurnWriter;
import io.fibry.nats.stream.JetStreamLog;
import io.fibry.store.StoreClosedException;
import io.fibry.store.spi.PendingWrite;
import io.fibry.store.spi.StoreBackend;
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
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/** A store with a {@link TurnWriter} for each actor that is loaded or has pending tasks. */
final class StreamStore extends NatsStore implements StoreBackend {
  private static final int PAGE_SIZE = 1_000;

  private final StoreContext context;
  private final JetStreamLog log;
  private final StoreSubjects subjects;
  private final Options options;
  private final Runnable onClose; // closes the connection, unless a transport uses it, too
  private final Semaphore byteBudget; // one permit per byte; pending tasks hold their bytes
  private final Map<ActorId, TurnWriter> writers = new ConcurrentHashMap<>();
  private final Set<StreamHistory> histories = ConcurrentHashMap.newKeySet(); // open histories
  private final StreamHistoryCleaner historyCleaner;

  StreamStore(JetStreamLog log, StoreSubjects subjects, Options options, Runnable onClose) {
    this.context = new StoreContext(log, subjects, options);
    this.log = log;
    this.subjects = subjects;
    this.options = options;
    this.onClose = onClose;
    this.byteBudget = new Semaphore(options.maxPendingBytes(), true);
    this.historyCleaner = new StreamHistoryCleaner(context);
  }

  StoreContext context() {
    return context;
  }

  StreamHistoryCleaner historyCleaner() {
    return historyCleaner;
  }

  private StoreClosedException closedException() {
    return new StoreClosedException(this + " is closed");
  }

  private void checkOpen() {
    if (context.isClosed()) throw closedException();
  }

  // ---- tasks

  private <T> PendingWrite<T> add(ActorId actor, PendingWrite<T> task) {
    if (task.size() > options.maxPendingBytes())
      throw new IllegalArgumentException("a turn of " + actor + ", or a message for it, takes "
          + task.size() + " bytes; option maxPendingBytes of " + this + " permits " + options.maxPendingBytes()
          + "; raise it");
    try { // an interrupted thread fails only if it must wait; no thread overtakes waiting threads
      if (byteBudget.hasQueuedThreads() || !byteBudget.tryAcquire(task.size())) byteBudget.acquire(task.size());
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw new CancellationException(
          "interrupted while a turn of " + actor + ", or a message for it, waited for capacity in " + this);
    }
    task.whenComplete((value, failure) -> byteBudget.release(task.size()));
    if (context.isClosed()) { // close() waits until this task releases its bytes
      task.completeExceptionally(closedException());
      return task;
    }
    boolean isAdded = false;
    try {
      writers.compute(actor, (key, existing) -> {
        var writer = existing != null ? existing
            : new TurnWriter(context, historyCleaner, actor, this::wakeHistories, () -> removeIdleWriter(actor));
        writer.add(task);
        return writer;
      });
      isAdded = true;
    } finally {
      if (!isAdded) task.cancel(false);
    }
    return task;
  }

  private void removeIdleWriter(ActorId actor) {
    writers.computeIfPresent(actor, (key, writer) -> writer.isIdle() ? null : writer);
  }

  private <T> T await(ActorId actor, PendingWrite<T> task) {
    checkOpen();
    var writer = writers.get(actor);
    if (writer != null && writer.isTurnThread(Thread.currentThread()))
      throw new IllegalStateException(
          actor + " cannot be read by a callback of its own turn; read it on another thread");
    try {
      return RequestMultiplexer.awaitAnswer(add(actor, task));
    } catch (InterruptedException interrupt) {
      task.cancel(false);
      Thread.currentThread().interrupt();
      throw new CancellationException("interrupted while " + actor + " was loaded from " + this);
    } catch (ExecutionException failure) {
      throw context.refusal(failure.getCause());
    }
  }

  // ---- turns

  @Override
  public LoadedActor load(ActorId actor) {
    return await(actor, new StoreTasks.LoadTask());
  }

  @Override
  public List<StoredTurn> turns(ActorId actor) {
    var turns = new ArrayList<StoredTurn>();
    try (var history = new StreamHistory(context, Objects.requireNonNull(actor, "actor"))) {
      for (var page = history.poll(); !page.isEmpty(); page = history.poll()) turns.addAll(page);
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw new CancellationException("interrupted while the turns of " + actor + " were read from " + this);
    }
    return turns;
  }

  @Override
  public long beginLife(ActorId actor, long lastTurn) {
    return await(actor, new StoreTasks.BeginLifeTask(lastTurn));
  }

  @Override
  public void endLife(ActorId actor, long life) {
    if (!context.isClosed()) add(actor, new StoreTasks.EndLifeTask(life));
  }

  @Override
  public CompletionStage<Void> append(Turn turn) {
    return store(turn, false);
  }

  @Override
  public CompletionStage<Void> end(Turn turn) {
    return store(turn, true);
  }

  private CompletionStage<Void> store(Turn turn, boolean isEnd) {
    checkSize("a turn of ", turn.actor(), turn.body());
    for (var message : turn.outbox()) checkSize("a message for ", message.to(), message.body());
    if (turn.outbox().size() > TurnWriter.maxSends()) throw new IllegalArgumentException("a turn of " + turn.actor()
        + " sends " + turn.outbox().size() + " messages; " + this + " takes at most " + TurnWriter.maxSends());
    return add(turn.actor(), new PendingWrite.TurnWrite(turn, isEnd));
  }

  /** Returns false, because turns of different actors are stored independently. */
  @Override
  public boolean preservesGlobalOrder() {
    return false;
  }

  @Override
  public void snapshot(Turn turn) {
    checkSize("a snapshot of ", turn.actor(), turn.body());
    if (!context.isClosed()) add(turn.actor(), new PendingWrite.SnapshotWrite(turn));
  }

  private void checkSize(String description, ActorId actor, byte[] body) {
    if (body.length > context.maxBytes())
      throw new IllegalArgumentException(description + actor + " takes " + body.length + " bytes; " + this
          + " takes at most " + context.maxBytes() + ", because max_payload of its servers is " + log.maxBytes());
  }

  // ---- pending messages

  @Override
  public CompletionStage<Boolean> enqueue(PendingMessage message, int max) {
    checkSize("a message for ", message.to(), message.body());
    return add(message.to(), new StoreTasks.EnqueueTask(message, max));
  }

  /**
   * Returns the pending messages of an actor. If the actor is not loaded here, messages that its
   * last turn handled may still be in the stream; they are hidden and purged.
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

  /**
   * Calls the reader also with a message that a later message with the same id has replaced, until
   * the replaced message is purged.
   */
  @Override
  public void forEachPending(String kind, BiConsumer<ActorId, Instant> reader) {
    checkOpen();
    String filter = subjects.messagesOfKindFilter(kind);
    for (var page = log.page(filter, 1, PAGE_SIZE); !page.isEmpty(); page =
        log.page(filter, page.getLast().getSeq() + 1, PAGE_SIZE))
      for (var message : page) {
        var actor = StoreSubjects.actorId(message.getSubject());
        var writer = writers.get(actor);
        var id = StoreSubjects.messageId(message.getSubject());
        if (writer == null || !writer.pendingMessages().isBeingRemoved(id, message.getSeq()))
          reader.accept(actor, JetStreamLog.readDueTime(message));
      }
  }

  /** Skips an actor without messages if its subject has only the entry that began a life. */
  @Override
  public void forEachActor(Consumer<ActorId> reader) {
    checkOpen();
    var countsBySubject = log.countBySubject(subjects.turnsPrefix() + ">");
    var actors = countsBySubject.entrySet().stream().filter(count -> count.getValue() > 1)
        .map(count -> StoreSubjects.actorId(count.getKey()))
        .collect(Collectors.toSet());
    var subjectsWithOneMessage = countsBySubject.entrySet().stream().filter(count -> count.getValue() == 1)
        .map(Map.Entry::getKey).toList();
    for (var message : log.lastMessages(subjectsWithOneMessage))
      if (JournalEntry.read(message).number() > 0) actors.add(StoreSubjects.actorId(message.getSubject()));
    for (var subject : log.countBySubject(subjects.messagesPrefix() + ">").keySet())
      actors.add(StoreSubjects.actorId(subject));
    actors.forEach(reader);
  }

  // ---- history

  @Override
  public History history(String kind, String after) {
    checkOpen();
    var history = new StreamHistory(context, kind, after, histories);
    histories.add(history);
    return history;
  }

  /** Wakes the histories of a kind whose turns were stored. */
  private void wakeHistories(String kind) {
    for (var history : histories) if (history.kind().equals(kind)) history.wake();
  }

  @Override
  public void setRetention(String kind, Duration age) {
    // A keeper that purges for this program could not check the age, so the setting has no effect.
    if (!log.isPurgedByKeeper()) historyCleaner.setRetention(kind, age);
  }

  @Override
  public InstantSource clock() {
    return options.clock();
  }

  // ---- closing

  @Override
  public void close() {
    if (writers.values().stream().anyMatch(writer -> writer.isRunBy(Thread.currentThread())))
      throw new IllegalStateException(
          "a store cannot be closed by a callback of its own writes; close it on another thread");
    boolean isFirst = !context.isClosed();
    context.close();
    byteBudget.acquireUninterruptibly(options.maxPendingBytes()); // waits until no task is pending
    byteBudget.release(options.maxPendingBytes());
    histories.forEach(StreamHistory::wake);
    if (isFirst) onClose.run();
  }

  @Override
  public String toString() {
    return context.toString();
  }
}
