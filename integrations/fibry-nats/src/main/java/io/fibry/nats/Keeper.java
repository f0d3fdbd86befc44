package io.fibry.nats;

import io.fibry.nats.JournalEntry.Written;
import io.fibry.nats.Log.Addition;
import io.fibry.store.Store;
import io.fibry.store.Store.Turn;
import io.fibry.store.Store.Waiting;
import io.fibry.store.StoreOutdatedException;
import io.nats.client.api.MessageInfo;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stores the turns of an actor. A message of its journal is only taken by the server if the one
 * before is that which this store knows as the last: so of two stores that both take the actor for
 * their own, one is refused. One message is under way at a time, with all turns that wait; what
 * they send is in one batch with it. Fields are of the lane.
 */
final class Keeper {
  private static final Logger LOG = LoggerFactory.getLogger(NatsStore.class);
  private static final int MOST_SENDS = 999; // the server's limit, less the turn
  private static final int MANY_DEAD = 64; // messages of turns that later whole ones replaced
  private static final int SOME_DEAD = 16; // when the actor goes

  /** Of the messages that a turn sends, the last with an id counts. */
  private record Key(Store.Id to, String id) {}

  private final StreamStore store;
  private final Log log;
  private final Store.Id id;
  private final Lane<Task<?>> lane;
  private final Letters letters;
  private long life;
  private long number; // of the last turn
  private long seq; // of the last message in the stream
  private long from; // where reading begins, as a number in the stream
  private long stored; // messages, since the dead ones were taken away
  private boolean over = true; // a turn of this life was refused, or there is none
  private volatile boolean alive; // a life has begun, and has not been left

  Keeper(StreamStore store, Store.Id id, Runnable idle) {
    this.store = store;
    this.log = store.log();
    this.id = id;
    this.letters = new Letters(store, id, idle);
    this.lane = new Lane<>("turns of " + id, this::work, idle);
  }

  Lane<Task<?>> lane() {
    return lane;
  }

  Letters letters() {
    return letters;
  }

  /** It knows nothing that could not be read again. */
  boolean isOfNoUse() {
    return !alive && lane.isIdle() && letters.lane().isIdle();
  }

  private void work(List<Task<?>> tasks) {
    var turns = new ArrayList<Task.Append>();
    for (var task : tasks) {
      boolean fits = task instanceof Task.Append one && fits(turns, one.turn());
      if (!fits) append(turns);
      if (task instanceof Task.Append one) turns.add(one);
      else run(task);
    }
    append(turns);
  }

  private boolean fits(List<Task.Append> turns, Turn turn) {
    long bytes = turn.body().length;
    long sends = turn.sends().size();
    for (var one : turns) {
      bytes += one.size();
      sends += one.turn().sends().size();
    }
    return bytes <= store.mostBytes() && sends <= MOST_SENDS;
  }

  static int mostSends() {
    return MOST_SENDS;
  }

  private void run(Task<?> task) {
    try {
      switch (task) {
        case Task.Load load -> load.complete(load());
        case Task.Begin begin -> begin.complete(begin(begin.last()));
        case Task.Snap snap -> {
          snapshot(snap.turn());
          snap.complete(null);
        }
        case Task.Leave leave -> {
          if (leave.life() == life) leave();
          leave.complete(null);
        }
        case Task.Append append -> throw new AssertionError(append);
        case Task.Accept accept -> throw new AssertionError(accept);
      }
    } catch (Throwable failure) {
      task.completeExceptionally(store.refusal(failure));
    }
  }

  // ---- turns

  private void append(List<Task.Append> tasks) {
    if (tasks.isEmpty()) return;
    var taken = new ArrayList<Task.Append>();
    for (var task : tasks)
      if (isNext(task.turn(), taken.size())) taken.add(task);
      else task.completeExceptionally(new StoreOutdatedException(task.turn()));
    try {
      if (!taken.isEmpty()) commit(taken);
    } catch (Throwable failure) {
      over = true;
      for (var one : taken) one.completeExceptionally(store.refusal(failure));
    } finally {
      tasks.clear();
    }
  }

  private boolean isNext(Turn turn, int before) {
    return !over && turn.life() == life && turn.number() == number + before + 1;
  }

  private void commit(List<Task.Append> tasks) {
    var turns = tasks.stream().map(Task.Append::turn).toList();
    var sends = new LinkedHashMap<Key, Waiting>();
    var done = new LinkedHashSet<String>();
    for (var turn : turns) {
      for (var one : turn.done()) {
        sends.remove(new Key(id, one));
        done.add(one);
      }
      for (var one : turn.sends()) {
        var key = new Key(one.to(), one.id());
        sends.remove(key); // so that it is the last one
        sends.put(key, one);
      }
    }
    var removed = done.isEmpty() ? List.<JournalEntry.Done>of() : letters.found(done);
    var left = new ArrayList<>(letters.leaving());
    left.addAll(removed);
    boolean whole = turns.stream().anyMatch(Turn::whole);
    var entry = new JournalEntry(store.unique(), life, number + turns.size(), whole ? 0 : from, left,
        turns.stream().map(Written::of).toList());
    var all = new ArrayList<Addition>();
    all.add(Addition.of(store.subjects().turns(id), entry.bytes()));
    sends.values().forEach(one -> all.add(letters.addition(one)));

    var outcome = write(entry, all);
    over = !(outcome instanceof Stored.Here);
    if (outcome instanceof Stored.Here) {
      number = entry.number();
      stored++;
      for (var one : removed) letters.remove(one.id(), one.seq());
      store.noteSent(sends.values(), seq + 1);
      if (whole && stored >= MANY_DEAD) takeDeadAway();
    }
    for (var task : tasks) {
      if (!over) task.complete(null);
      else if (outcome instanceof Stored.Outdated) task.completeExceptionally(new StoreOutdatedException(task.turn()));
      else task.completeExceptionally(store.refusal(outcome, "turn " + task.turn().number() + " of " + id));
    }
    if (!over) store.hear(id.kind());
  }

  /** The first of the messages is this entry. Sets where it is. */
  private Stored write(JournalEntry entry, List<Addition> all) {
    var outcome = log.settle(() -> log.addAll(all, seq));
    if (outcome instanceof Stored.Here here) wrote(entry, here.seq() - all.size() + 1);
    else if (outcome instanceof Stored.Outdated) return look(entry);
    return outcome;
  }

  private void wrote(JournalEntry entry, long at) {
    seq = at;
    from = entry.from() == 0 ? at : entry.from();
  }

  /** An attempt of which nothing was heard may have stored it. */
  private Stored look(JournalEntry entry) {
    var subject = store.subjects().turns(id);
    for (var one = log.next(subject, seq + 1); one.isPresent(); one = log.next(subject, one.get().getSeq() + 1))
      if (JournalEntry.read(one.get()).by().equals(entry.by())) {
        wrote(entry, one.get().getSeq());
        return new Stored.Here(seq);
      }
    return new Stored.Outdated();
  }

  private void takeDeadAway() {
    stored = 0;
    if (from > 1) log.purge(store.subjects().turns(id), from - 1);
  }

  private void snapshot(Turn turn) {
    if (over || turn.life() != life || turn.number() != number) return;
    String subject = store.subjects().snapshot(id);
    long before = log.last(subject).map(MessageInfo::getSeq).orElse(0L);
    var snapshot = Addition.of(subject, new Snapshot(number, seq, turn.body()).bytes());
    var outcome = log.replace(snapshot, before).join();
    if (outcome instanceof Stored.Here) store.forgetting().look(id.kind());
    else LOG.debug("a snapshot of {} was not stored: {}", id, outcome);
  }

  // ---- lives

  private Store.Loaded load() {
    var last = beginLife(Optional.empty());
    var bodies = last.isEmpty() ? List.<byte[]>of()
        : new Bodies(log, store.subjects(), id).upTo(last.get(), JournalEntry.read(last.get()));
    return new Store.Loaded(life, number, bodies, letters.ids());
  }

  private long begin(long after) {
    beginLife(Optional.of(after));
    return life;
  }

  /** Answers the last message before. */
  private Optional<MessageInfo> beginLife(Optional<Long> after) {
    over = true;
    for (int times = 1;; times++) {
      var last = log.last(store.subjects().turns(id));
      var before = last.map(JournalEntry::read);
      seq = last.map(MessageInfo::getSeq).orElse(0L);
      from = before.isPresent() && before.get().from() > 0 ? before.get().from() : seq;
      long next = Math.max(life, before.map(JournalEntry::life).orElse(0L)) + 1;
      number = after.orElse(before.map(JournalEntry::number).orElse(0L));
      var done = before.map(JournalEntry::done).orElse(List.of());
      var begins = new JournalEntry(store.unique(), next, number, after.isPresent() ? 0 : from, done, List.of());
      boolean known = after.isEmpty() && before.isPresent() && store.isOwn(before.get().by());
      var outcome = known ? new Stored.Here(seq)
          : write(begins, List.of(Addition.of(store.subjects().turns(id), begins.bytes())));
      if (outcome instanceof Stored.Here) {
        life = next;
        alive = true;
        over = false;
        letters.own(done);
        return last;
      }
      if (!(outcome instanceof Stored.Outdated)) throw store.refusal(outcome, "a life of " + id);
      Log.pause(times); // another store begins one, too
    }
  }

  private void leave() {
    if (number == 0 && !over) log.purge(store.subjects().turns(id), seq).join(); // nobody need know that it was read
    else if (stored >= SOME_DEAD && !over) takeDeadAway();
    letters.leave();
    alive = false;
    over = true;
  }
}
