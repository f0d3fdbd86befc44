package io.fibry.nats.store;

import io.fibry.nats.NatsStore;
import io.fibry.nats.connection.ConnectionErrors;
import io.fibry.nats.store.JournalEntry.Written;
import io.fibry.nats.stream.JetStreamLog;
import io.fibry.nats.stream.JetStreamLog.StreamMessage;
import io.fibry.nats.stream.WriteOutcome;
import io.fibry.store.StaleLifeException;
import io.fibry.store.Store;
import io.fibry.store.spi.StoreBackend;
import io.fibry.store.spi.StoreBackend.PendingMessage;
import io.fibry.store.spi.StoreBackend.Turn;
import io.fibry.store.StoreWriteException;
import io.fibry.store.spi.ViewOffset;
import io.fibry.store.spi.PendingWrite;
import io.fibry.text.SafeLogger;
import io.nats.client.api.MessageInfo;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.slf4j.Logger;

/**
 * Stores the turns of an actor as entries of its journal, which are messages of one subject. The
 * server stores an entry only if the last message of that subject is the message that this store
 * expects. So if two stores have loaded the actor, the turns of one store are refused. One entry is
 * in flight at a time, with all waiting turns. The messages that these turns send are stored in one
 * batch with the entry. Fields are used on the fiber of {@link #executor}.
 */
public final class TurnWriter {
  private static final Logger LOG = SafeLogger.of(NatsStore.class);
  private static final int MAX_SENDS = 999; // in one batch; the server's limit is 1,000 with the entry
  private static final int PURGE_THRESHOLD = 64; // stored entries after which the next full state causes a purge
  private static final int PURGE_THRESHOLD_AT_END = 16; // stored entries after which the end of a life causes a purge

  /**
   * The key of a message that turns send. If several messages have one key, only the last is
   * stored.
   */
  private record OutboxKey(Store.ActorId to, String id) {}

  /** The last entry of the journal, and its number in the stream. */
  private record LastEntry(long seq, JournalEntry entry) {}

  private final StoreContext store;
  private final StreamHistoryCleaner historyCleaner;
  private final JetStreamLog log;
  private final Store.ActorId id;
  private final Consumer<String> historyWaker; // gets the kind of the actor when turns were stored
  private final SerialExecutor<PendingWrite<?>> executor;
  private final PendingMessages pendingMessages;
  private final MessageWriter messageWriter;
  private long life;
  private long number; // of the last stored turn
  private long seq; // number in the stream of the last entry
  private long firstReadSeq; // number in the stream of the entry from which the actor is loaded
  private long entriesSincePurge; // stored entries since the last purge
  private boolean isRefused = true; // a turn of this life was refused, or no life has begun
  private volatile boolean isAlive; // a life has begun and not ended; read by any thread

  public TurnWriter(StoreContext store, StreamHistoryCleaner historyCleaner, Store.ActorId id,
      Consumer<String> historyWaker,
      Runnable onIdle) {
    this.store = store;
    this.historyCleaner = historyCleaner;
    this.log = store.log();
    this.id = id;
    this.historyWaker = historyWaker;
    this.pendingMessages = new PendingMessages(log, store.subjects(), id);
    this.messageWriter = new MessageWriter(store, id, pendingMessages, onIdle);
    this.executor = new SerialExecutor<>("turns of " + id, this::work, onIdle);
  }

  public void add(PendingWrite<?> task) {
    if (task instanceof StoreTasks.EnqueueTask message) messageWriter.executor().add(message);
    else executor.add(task);
  }

  /** Returns whether the thread stores the turns of this writer at the moment. */
  public boolean isTurnThread(Thread thread) {
    return executor.isRunBy(thread);
  }

  public boolean isRunBy(Thread thread) {
    return executor.isRunBy(thread) || messageWriter.executor().isRunBy(thread);
  }

  public PendingMessages pendingMessages() {
    return pendingMessages;
  }

  public boolean isAlive() {
    return isAlive;
  }

  /** Returns whether this writer can be dropped, because it has no life and no tasks. */
  public boolean isIdle() {
    return !isAlive && executor.isIdle() && messageWriter.executor().isIdle();
  }

  private void work(List<PendingWrite<?>> tasks) {
    var turns = new ArrayList<PendingWrite.TurnWrite>();
    for (var task : tasks) {
      boolean fits = task instanceof PendingWrite.TurnWrite append && fits(turns, append.turn());
      if (!fits) append(turns);
      if (task instanceof PendingWrite.TurnWrite append) turns.add(append);
      else run(task);
    }
    append(turns);
  }

  private boolean fits(List<PendingWrite.TurnWrite> turns, Turn turn) {
    long bytes = turn.body().length;
    long sendCount = turn.outbox().size();
    for (var task : turns) {
      bytes += task.size();
      sendCount += task.turn().outbox().size();
    }
    return bytes <= store.maxBytes() && sendCount <= MAX_SENDS;
  }

  public static int maxSends() {
    return MAX_SENDS;
  }

  private void run(PendingWrite<?> task) {
    try {
      switch (task) {
        case StoreTasks.LoadTask load -> {
          if (!load.complete(load())) endLife(); // the task was cancelled, so no caller knows this life
        }
        case StoreTasks.BeginLifeTask begin -> {
          if (!begin.complete(startLife(begin.lastTurn()))) endLife();
        }
        case PendingWrite.SnapshotWrite snapshot -> {
          snapshot(snapshot.turn());
          snapshot.complete(null);
        }
        case StoreTasks.EndLifeTask end -> {
          if (end.life() == life) endLife();
          end.complete(null);
        }
        default -> throw new AssertionError(task);
      }
    } catch (Throwable failure) {
      task.completeExceptionally(store.refusal(failure));
    }
  }

  // ---- turns

  private void append(List<PendingWrite.TurnWrite> tasks) {
    if (tasks.isEmpty()) return;
    var accepted = new ArrayList<PendingWrite.TurnWrite>();
    for (var task : tasks)
      if (isNext(task.turn(), accepted.size())) accepted.add(task);
      else task.completeExceptionally(new StaleLifeException(id, task.turn().number()));
    try {
      if (!accepted.isEmpty()) commit(accepted);
    } catch (Throwable failure) {
      isRefused = true;
      for (var task : accepted) task.completeExceptionally(store.refusal(failure));
    } finally {
      tasks.clear();
    }
  }

  private boolean isNext(Turn turn, int turnsBefore) {
    return !isRefused && turn.life() == life && turn.number() == number + turnsBefore + 1;
  }

  private void commit(List<PendingWrite.TurnWrite> tasks) {
    var turns = tasks.stream().map(PendingWrite.TurnWrite::turn).toList();
    var outbox = new LinkedHashMap<OutboxKey, PendingMessage>();
    var handledIds = new LinkedHashSet<String>();
    for (var turn : turns) {
      for (var messageId : turn.handledIds()) {
        outbox.remove(new OutboxKey(id, messageId));
        handledIds.add(messageId);
      }
      for (var message : turn.outbox()) {
        var key = new OutboxKey(message.to(), message.id());
        outbox.remove(key); // so that it moves to the end
        outbox.put(key, message);
      }
    }
    var handled = handledIds.isEmpty() ? List.<JournalEntry.Done>of() : pendingMessages.findPresent(handledIds);
    var unpurged = new ArrayList<>(pendingMessages.retryAndListUnpurged());
    unpurged.addAll(handled);
    boolean hasFullState = turns.stream().anyMatch(Turn::isFullState);
    var entry = new JournalEntry(store.uniqueName(), life, number + turns.size(),
        hasFullState ? 0 : firstReadSeq, unpurged, turns.stream().map(Written::of).toList());
    byte[] bytes = entry.bytes();
    if (bytes.length > store.maxEntryBytes()) {
      commitInHalves(tasks, bytes.length, unpurged.size());
      return;
    }
    var messages = new ArrayList<StreamMessage>();
    messages.add(StreamMessage.of(store.subjects().turns(id), bytes));
    outbox.values().forEach(message -> messages.add(pendingMessages.toStreamMessage(message)));
    var outcome = write(entry, messages);
    isRefused = !(outcome instanceof WriteOutcome.WriteSuccess);
    try {
      if (!isRefused) onStored(entry, handled, outbox.values());
    } finally {
      for (var task : tasks) completeTask(task, outcome);
    }
    if (!isRefused) historyWaker.accept(id.kind());
    if (!isRefused && tasks.stream().anyMatch(PendingWrite.TurnWrite::isEnd)) purgeDead();
  }

  /** Commits the turns in two halves, because they are too large for one message. */
  private void commitInHalves(List<PendingWrite.TurnWrite> tasks, int bytes, int handledCount) {
    if (tasks.size() == 1) throw new StoreWriteException("turn " + tasks.getFirst().turn().number() + " of " + id
        + " takes " + bytes + " bytes with the ids of " + handledCount
        + " messages that are done and not deleted yet; " + store
        + " takes at most " + store.maxEntryBytes() + log.purgeFailureText(), null);
    int half = tasks.size() / 2;
    append(new ArrayList<>(tasks.subList(0, half)));
    append(new ArrayList<>(tasks.subList(half, tasks.size())));
  }

  private void onStored(JournalEntry entry, List<JournalEntry.Done> handled, Collection<PendingMessage> outbox) {
    ViewOffset.kindReadBy(id).ifPresent(historyCleaner::onViewMoved);
    number = entry.number();
    entriesSincePurge++;
    pendingMessages.remove(handled);
    long messageSeq = seq;
    for (var message : outbox) {
      messageSeq++;
      if (!message.to().equals(id)) continue;
      var previous = pendingMessages.positions().get(message.id());
      pendingMessages.notePending(message.id(), messageSeq, message.due());
      if (previous != null) pendingMessages.removeBefore(message.id(), messageSeq);
    }
    if (entry.hasFullState() && entriesSincePurge >= PURGE_THRESHOLD) purgeDead();
  }

  private void completeTask(PendingWrite.TurnWrite task, WriteOutcome outcome) {
    switch (outcome) {
      case WriteOutcome.WriteSuccess success -> task.complete(null);
      case WriteOutcome.WriteConflict conflict -> task.completeExceptionally(
          new StaleLifeException(id, task.turn().number()));
      default -> task.completeExceptionally(
          store.refusal(outcome, "turn " + task.turn().number() + " of " + id));
    }
  }

  /** Stores the entry, which is the first message, and the others. Notes the entry's position. */
  private WriteOutcome write(JournalEntry entry, List<StreamMessage> messages) {
    WriteOutcome outcome;
    try {
      outcome = log.retryUntilSettled(() -> log.addAll(messages, seq));
    } catch (Throwable failure) { // such as an OutOfMemoryError; the entry may have been sent
      return new WriteOutcome.RetryableFailure(ConnectionErrors.text(failure), true);
    }
    if (outcome instanceof WriteOutcome.WriteSuccess success) onWritten(entry, success.seq() - messages.size() + 1);
    return outcome instanceof WriteOutcome.WriteConflict conflict && conflict.mayBeOwn() ? findEntry(entry) : outcome;
  }

  private void onWritten(JournalEntry entry, long entrySeq) {
    seq = entrySeq;
    firstReadSeq = entry.from() == 0 ? entrySeq : entry.from();
  }

  /** Searches the journal for an entry that an attempt without an answer may have stored. */
  private WriteOutcome findEntry(JournalEntry entry) {
    var subject = store.subjects().turns(id);
    try {
      for (var message = log.nextMessage(subject, seq + 1); message.isPresent();
          message = log.nextMessage(subject, message.get().getSeq() + 1))
        if (JournalEntry.read(message.get()).by().equals(entry.by())) {
          onWritten(entry, message.get().getSeq());
          return new WriteOutcome.WriteSuccess(seq);
        }
      return new WriteOutcome.RetryableFailure(
          "another store has stored turns since, and may have deleted this entry", true);
    } catch (RuntimeException failure) {
      return new WriteOutcome.RetryableFailure(ConnectionErrors.text(failure), true);
    }
  }

  private void purgeDead() {
    entriesSincePurge = 0;
    if (firstReadSeq > 1) historyCleaner.purgeBefore(id, firstReadSeq);
  }

  /**
   * Stores a snapshot, unless another store has stored a later snapshot. The later snapshot must
   * stay, because turns before it may have been deleted.
   */
  private void snapshot(Turn turn) {
    if (isRefused || turn.life() != life || turn.number() != number) return;
    String subject = store.subjects().snapshot(id);
    var previous = log.lastMessage(subject);
    if (previous.map(Snapshot::read).filter(stored -> stored.seq() > seq).isPresent()) return;
    var snapshot = StreamMessage.of(subject, new Snapshot(number, seq, turn.body()).bytes());
    var outcome = log.replace(snapshot, previous.map(MessageInfo::getSeq).orElse(0L)).join();
    if (outcome instanceof WriteOutcome.WriteSuccess) historyCleaner.onSnapshotStored(id.kind());
    else LOG.debug("a snapshot of {} was not stored: {}", id, outcome);
  }

  // ---- lives

  private StoreBackend.LoadedActor load() {
    boolean isLoaded = false;
    try {
      var lastEntry = beginLife(Optional.empty());
      ViewOffset.kindReadBy(id).ifPresent(historyCleaner::onViewMoved); // an earlier store may have left turns
      var bodies =
          lastEntry.map(last -> new TurnReader(log, store.subjects(), id).readUpTo(last.seq, last.entry))
              .orElse(List.of());
      var pendingIds = pendingMessages.loadIds();
      isLoaded = true;
      return new StoreBackend.LoadedActor(life, number, bodies, pendingIds);
    } finally {
      if (!isLoaded) isAlive = false; // no actor got this life, so no actor will end it
    }
  }

  private long startLife(long lastNumber) {
    beginLife(Optional.of(lastNumber));
    return life;
  }

  /**
   * Begins a life. Its first turn follows the turn {@code lastNumber} or, if that is empty, the
   * last stored turn. Returns the last entry before the life.
   */
  private Optional<LastEntry> beginLife(Optional<Long> lastNumber) {
    isRefused = true;
    for (int attempt = 1;; attempt++) {
      var last =
          log.lastMessage(store.subjects().turns(id))
              .map(message -> new LastEntry(message.getSeq(), JournalEntry.read(message)));
      var previousEntry = last.map(LastEntry::entry);
      seq = last.map(LastEntry::seq).orElse(0L);
      firstReadSeq = previousEntry.isPresent() && previousEntry.get().from() > 0 ? previousEntry.get().from() : seq;
      life = store.nextLife(previousEntry.map(JournalEntry::life).orElse(0L));
      number = lastNumber.orElse(previousEntry.map(JournalEntry::number).orElse(0L));
      var handled = previousEntry.map(JournalEntry::done).orElse(List.of());
      var beginning = new JournalEntry(store.uniqueName(), life, number,
          lastNumber.isPresent() ? 0 : firstReadSeq, handled, List.of());
      var outcome = write(beginning, List.of(StreamMessage.of(store.subjects().turns(id), beginning.bytes())));
      if (outcome instanceof WriteOutcome.WriteSuccess) {
        isAlive = true;
        isRefused = false;
        pendingMessages.beginLife(handled);
        return last;
      }
      if (!(outcome instanceof WriteOutcome.WriteConflict)) throw store.refusal(outcome, "a life of " + id);
      JetStreamLog.pause(attempt); // another store begins a life, too
    }
  }

  private void endLife() {
    // An actor that never had a turn does not need the entry that began its life.
    if (number == 0 && !isRefused) log.purge(store.subjects().turns(id), seq).join();
    else if (entriesSincePurge >= PURGE_THRESHOLD_AT_END && !isRefused) purgeDead();
    pendingMessages.endLife();
    isAlive = false;
    isRefused = true;
  }
}
