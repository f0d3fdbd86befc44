package io.fibry.nats;

import io.fibry.nats.JetStreamLog.StreamMessage;
import io.fibry.nats.JournalEntry.Written;
import io.fibry.store.StaleLifeException;
import io.fibry.store.Store;
import io.fibry.store.Store.PendingMessage;
import io.fibry.store.Store.Turn;
import io.fibry.store.StoreWriteException;
import io.fibry.store.ViewOffset;
import io.nats.client.api.MessageInfo;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stores the turns of an actor. The server takes a message of its journal only if the message
 * before is the last one that this store knows. So of two stores that both own the actor, one is
 * refused. One message is being stored at a time, with all waiting turns; the messages that they
 * send are in one batch with it. Fields are of the lane.
 */
final class TurnWriter {
  private static final Logger LOG = LoggerFactory.getLogger(NatsStore.class);
  private static final int MAX_SENDS = 999; // the server's limit, less the turn
  private static final int PURGE_THRESHOLD = 64; // messages of turns that later whole ones replaced
  private static final int PURGE_THRESHOLD_AT_END = 16; // when the actor goes

  /** If a turn sends several messages with an id, the last one counts. */
  private record OutboxKey(Store.ActorId to, String id) {}

  /** The last message of the turns, where it is in the stream. */
  private record LastEntry(long seq, JournalEntry entry) {}

  private final StreamStore store;
  private final JetStreamLog log;
  private final Store.ActorId id;
  private final SerialExecutor<StoreTask<?>> executor;
  private final PendingMessages pendingMessages;
  private final MessageWriter messageWriter;
  private long life;
  private long number; // of the last turn
  private long seq; // of the last message in the stream
  private long from; // where reading begins, as a number in the stream
  private long messages; // stored since dead messages were last removed
  private boolean isRefused = true; // a turn of this life was refused, or there is none
  private volatile boolean isAlive; // a life has begun, and has not been left

  TurnWriter(StreamStore store, Store.ActorId id, Runnable idle) {
    this.store = store;
    this.log = store.log();
    this.id = id;
    this.pendingMessages = new PendingMessages(log, store.subjects(), id);
    this.messageWriter = new MessageWriter(store, id, pendingMessages, idle);
    this.executor = new SerialExecutor<>("turns of " + id, this::work, idle);
  }

  void add(StoreTask<?> task) {
    if (task instanceof StoreTask.EnqueueTask accept) messageWriter.executor().add(accept);
    else executor.add(task);
  }

  /** Whether a thread is that of the turns. */
  boolean storesTurns(Thread thread) {
    return executor.isOwn(thread);
  }

  boolean isOwn(Thread thread) {
    return executor.isOwn(thread) || messageWriter.executor().isOwn(thread);
  }

  PendingMessages pendingMessages() {
    return pendingMessages;
  }

  boolean isAlive() {
    return isAlive;
  }

  /** It knows nothing that could not be read again. */
  boolean isIdle() {
    return !isAlive && executor.isIdle() && messageWriter.executor().isIdle();
  }

  private void work(List<StoreTask<?>> tasks) {
    var turns = new ArrayList<StoreTask.AppendTask>();
    for (var task : tasks) {
      boolean fits = task instanceof StoreTask.AppendTask one && fits(turns, one.turn());
      if (!fits) append(turns);
      if (task instanceof StoreTask.AppendTask one) turns.add(one);
      else run(task);
    }
    append(turns);
  }

  private boolean fits(List<StoreTask.AppendTask> turns, Turn turn) {
    long bytes = turn.body().length;
    long sends = turn.outbox().size();
    for (var one : turns) {
      bytes += one.size();
      sends += one.turn().outbox().size();
    }
    return bytes <= store.maxBytes() && sends <= MAX_SENDS;
  }

  static int maxSends() {
    return MAX_SENDS;
  }

  private void run(StoreTask<?> task) {
    try {
      switch (task) {
        case StoreTask.LoadTask load -> {
          if (!load.complete(load())) endLife(); // the load is not awaited any more
        }
        case StoreTask.BeginLifeTask begin -> {
          if (!begin.complete(startLife(begin.last()))) endLife();
        }
        case StoreTask.SnapshotTask snap -> {
          snapshot(snap.turn());
          snap.complete(null);
        }
        case StoreTask.EndLifeTask leave -> {
          if (leave.life() == life) endLife();
          leave.complete(null);
        }
        case StoreTask.AppendTask append -> throw new AssertionError(append);
        case StoreTask.EnqueueTask accept -> throw new AssertionError(accept);
      }
    } catch (Throwable failure) {
      task.completeExceptionally(store.refusal(failure));
    }
  }

  // ---- turns

  private void append(List<StoreTask.AppendTask> tasks) {
    if (tasks.isEmpty()) return;
    var taken = new ArrayList<StoreTask.AppendTask>();
    for (var task : tasks)
      if (isNext(task.turn(), taken.size())) taken.add(task);
      else task.completeExceptionally(new StaleLifeException(task.turn()));
    try {
      if (!taken.isEmpty()) commit(taken);
    } catch (Throwable failure) {
      isRefused = true;
      for (var one : taken) one.completeExceptionally(store.refusal(failure));
    } finally {
      tasks.clear();
    }
  }

  private boolean isNext(Turn turn, int before) {
    return !isRefused && turn.life() == life && turn.number() == number + before + 1;
  }

  private void commit(List<StoreTask.AppendTask> tasks) {
    var turns = tasks.stream().map(StoreTask.AppendTask::turn).toList();
    var sends = new LinkedHashMap<OutboxKey, PendingMessage>();
    var done = new LinkedHashSet<String>();
    for (var turn : turns) {
      for (var one : turn.handledIds()) {
        sends.remove(new OutboxKey(id, one));
        done.add(one);
      }
      for (var one : turn.outbox()) {
        var key = new OutboxKey(one.to(), one.id());
        sends.remove(key); // so that it is the last one
        sends.put(key, one);
      }
    }
    var removed = done.isEmpty() ? List.<JournalEntry.Done>of() : pendingMessages.findPresent(done);
    var left = new ArrayList<>(pendingMessages.stillPresent());
    left.addAll(removed);
    boolean whole = turns.stream().anyMatch(Turn::isFullState);
    var entry = new JournalEntry(store.uniqueName(), life, number + turns.size(), whole ? 0 : from, left,
        turns.stream().map(Written::of).toList());
    byte[] bytes = entry.bytes();
    if (bytes.length > store.maxEntryBytes()) {
      commitPartially(tasks, bytes.length, left.size());
      return;
    }
    var all = new ArrayList<StreamMessage>();
    all.add(StreamMessage.of(store.subjects().turns(id), bytes));
    sends.values().forEach(one -> all.add(pendingMessages.addition(one)));
    var outcome = write(entry, all);
    isRefused = !(outcome instanceof WriteOutcome.WriteSuccess);
    try {
      if (!isRefused) onStored(entry, removed, sends.values());
    } finally {
      for (var task : tasks) completeTask(task, outcome);
    }
    if (!isRefused) store.onStored(id.kind());
    if (!isRefused && tasks.stream().anyMatch(StoreTask.AppendTask::isEnd)) purgeDead();
  }

  /** With all that is done and still there, they do not fit into a message. */
  private void commitPartially(List<StoreTask.AppendTask> tasks, int bytes, int done) {
    if (tasks.size() == 1) throw new StoreWriteException("turn " + tasks.getFirst().turn().number() + " of " + id
        + " takes " + bytes + " bytes with the ids of " + done + " messages that are done and not deleted yet; " + store
        + " takes at most " + store.maxEntryBytes() + log.purgeFailureText(), null);
    int half = tasks.size() / 2;
    append(new ArrayList<>(tasks.subList(0, half)));
    append(new ArrayList<>(tasks.subList(half, tasks.size())));
  }

  private void onStored(JournalEntry entry, List<JournalEntry.Done> removed, Collection<PendingMessage> sends) {
    ViewOffset.kindOf(id).ifPresent(store.historyCleaner()::onViewMoved);
    number = entry.number();
    messages++;
    pendingMessages.remove(removed);
    long at = seq;
    for (var one : sends) {
      at++;
      if (!one.to().equals(id)) continue;
      var before = pendingMessages.positions().get(one.id());
      pendingMessages.notePending(one.id(), at, one.due());
      if (before != null) pendingMessages.removeBefore(one.id(), at);
    }
    if (entry.hasWhole() && messages >= PURGE_THRESHOLD) purgeDead();
  }

  private void completeTask(StoreTask.AppendTask task, WriteOutcome outcome) {
    switch (outcome) {
      case WriteOutcome.WriteSuccess here -> task.complete(null);
      case WriteOutcome.WriteConflict outdated -> task.completeExceptionally(new StaleLifeException(task.turn()));
      default -> task.completeExceptionally(
          store.refusal(outcome, "turn " + task.turn().number() + " of " + id));
    }
  }

  /** The first of the messages is this entry. Sets where it is. */
  private WriteOutcome write(JournalEntry entry, List<StreamMessage> all) {
    WriteOutcome outcome;
    try {
      outcome = log.settle(() -> log.addAll(all, seq));
    } catch (Throwable failure) { // of memory; it may have left
      return new WriteOutcome.RetryableFailure(ConnectionErrors.text(failure), true);
    }
    if (outcome instanceof WriteOutcome.WriteSuccess here) onWritten(entry, here.seq() - all.size() + 1);
    return outcome instanceof WriteOutcome.WriteConflict outdated && outdated.mayBeOwn() ? findEntry(entry) : outcome;
  }

  private void onWritten(JournalEntry entry, long at) {
    seq = at;
    from = entry.from() == 0 ? at : entry.from();
  }

  /** An attempt of which nothing was heard may have stored it. */
  private WriteOutcome findEntry(JournalEntry entry) {
    var subject = store.subjects().turns(id);
    try {
      for (var one = log.nextMessage(subject, seq + 1); one.isPresent();
          one = log.nextMessage(subject, one.get().getSeq() + 1))
        if (JournalEntry.read(one.get()).by().equals(entry.by())) {
          onWritten(entry, one.get().getSeq());
          return new WriteOutcome.WriteSuccess(seq);
        }
      return new WriteOutcome.RetryableFailure(
          "another store has stored turns since, and what was before may be taken away", true);
    } catch (RuntimeException unread) {
      return new WriteOutcome.RetryableFailure(ConnectionErrors.text(unread), true);
    }
  }

  private void purgeDead() {
    messages = 0;
    if (from > 1) store.historyCleaner().removeDead(id, from);
  }

  /**
   * Does not replace the snapshot of a store that has stored more, because turns before that one
   * may be gone.
   */
  private void snapshot(Turn turn) {
    if (isRefused || turn.life() != life || turn.number() != number) return;
    String subject = store.subjects().snapshot(id);
    var before = log.lastMessage(subject);
    if (before.map(Snapshot::read).filter(one -> one.seq() > seq).isPresent()) return;
    var snapshot = StreamMessage.of(subject, new Snapshot(number, seq, turn.body()).bytes());
    var outcome = log.replace(snapshot, before.map(MessageInfo::getSeq).orElse(0L)).join();
    if (outcome instanceof WriteOutcome.WriteSuccess) store.historyCleaner().onSnapshotStored(id.kind());
    else LOG.debug("a snapshot of {} was not stored: {}", id, outcome);
  }

  // ---- lives

  private Store.LoadedActor load() {
    boolean loaded = false;
    try {
      var last = beginLife(Optional.empty());
      ViewOffset.kindOf(id).ifPresent(store.historyCleaner()::onViewMoved); // a store that is gone may not have purged
      var bodies =
          last.map(one -> new TurnReader(log, store.subjects(), id).readUpTo(one.seq, one.entry)).orElse(List.of());
      var waiting = pendingMessages.loadIds();
      loaded = true;
      return new Store.LoadedActor(life, number, bodies, waiting);
    } finally {
      if (!loaded) isAlive = false; // no actor knows this life, so none will leave it
    }
  }

  private long startLife(long after) {
    beginLife(Optional.of(after));
    return life;
  }

  /** Returns the last message before. */
  private Optional<LastEntry> beginLife(Optional<Long> after) {
    isRefused = true;
    for (int times = 1;; times++) {
      var last =
          log.lastMessage(store.subjects().turns(id)).map(one -> new LastEntry(one.getSeq(), JournalEntry.read(one)));
      var before = last.map(LastEntry::entry);
      seq = last.map(LastEntry::seq).orElse(0L);
      from = before.isPresent() && before.get().from() > 0 ? before.get().from() : seq;
      life = store.nextLife(before.map(JournalEntry::life).orElse(0L));
      number = after.orElse(before.map(JournalEntry::number).orElse(0L));
      var done = before.map(JournalEntry::done).orElse(List.of());
      var begins = new JournalEntry(store.uniqueName(), life, number, after.isPresent() ? 0 : from, done, List.of());
      var outcome = write(begins, List.of(StreamMessage.of(store.subjects().turns(id), begins.bytes())));
      if (outcome instanceof WriteOutcome.WriteSuccess) {
        isAlive = true;
        isRefused = false;
        pendingMessages.beginLife(done);
        return last;
      }
      if (!(outcome instanceof WriteOutcome.WriteConflict)) throw store.refusal(outcome, "a life of " + id);
      JetStreamLog.pause(times); // another store begins one, too
    }
  }

  private void endLife() {
    // No trace of the reading is needed.
    if (number == 0 && !isRefused) log.purge(store.subjects().turns(id), seq).join();
    else if (messages >= PURGE_THRESHOLD_AT_END && !isRefused) purgeDead();
    pendingMessages.endLife();
    isAlive = false;
    isRefused = true;
  }
}
