package io.fibry.nats;

import io.fibry.nats.JetStreamLog.StreamMessage;
import io.fibry.nats.JournalEntry.Done;
import io.fibry.store.Store;
import io.fibry.store.Store.PendingMessage;
import io.nats.client.api.MessageInfo;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * The messages that wait for an actor. Each message has a subject of its own, so that another one
 * with its id takes its place. A turn names the messages that it has done. They are removed
 * afterwards, and hidden as long as they are there. Reads ask the server each time, since other
 * stores send messages, too. Thread-safe.
 */
final class PendingMessages {
  private static final int SMALL_COUNT = 256; // they are asked for all at once

  /** Where a message is in the stream, and when it is due. */
  record MessagePosition(long seq, Instant due) {
    private MessagePosition later(MessagePosition other) {
      return seq > other.seq ? this : other;
    }
  }

  /** Messages by id, and up to which number in the stream they are done. */
  private record HiddenMessages(Map<String, Long> before, Map<String, Long> now) {
    boolean has(MessageInfo one) {
      String id = StoreSubjects.message(one.getSubject());
      return before.getOrDefault(id, 0L) >= one.getSeq() || now.getOrDefault(id, 0L) >= one.getSeq();
    }
  }

  private final JetStreamLog log;
  private final StoreSubjects subjects;
  private final Store.ActorId id;
  // by id; others may have taken some away
  private final Map<String, MessagePosition> positions = new ConcurrentHashMap<>();
  private final Map<String, Long> removedIds = new ConcurrentHashMap<>(); // done up to this number, by id
  private final Map<String, CompletableFuture<Void>> removals = new ConcurrentHashMap<>(); // running removals, by id
  private volatile boolean isAlive; // a life has begun here, so no other store should take messages away
  private volatile boolean isComplete; // all that was there when that began is known

  PendingMessages(JetStreamLog log, StoreSubjects subjects, Store.ActorId id) {
    this.log = log;
    this.subjects = subjects;
    this.id = id;
  }

  private String subject(String message) {
    return subjects.message(id, message);
  }

  StreamMessage addition(PendingMessage message) {
    return new StreamMessage(subjects.message(message.to(), message.id()), Optional.of(message.due()), message.body());
  }

  // ---- present messages

  /** In the order in which they were stored; the last one of each id. */
  private List<MessageInfo> loadAll() {
    var hidden = hidden();
    return loadAll(log.subjects(subjects.messages(id)), hidden);
  }

  private List<MessageInfo> loadAll(Map<String, Long> there, HiddenMessages hidden) {
    return filterVisible(log.lastMessages(there.keySet()).stream(), hidden)
        .sorted(Comparator.comparingLong(MessageInfo::getSeq))
        .toList();
  }

  /** Messages that are removed during a reading were done before, too. */
  private HiddenMessages hidden() {
    return new HiddenMessages(Map.copyOf(removedIds), removedIds);
  }

  private Stream<MessageInfo> filterVisible(Stream<MessageInfo> found, HiddenMessages hidden) {
    return found.filter(one -> !hidden.has(one)).peek(this::notePending);
  }

  private void notePending(MessageInfo one) {
    notePending(StoreSubjects.message(one.getSubject()), one.getSeq(), JetStreamLog.dueTime(one));
  }

  /** It waits from now on. */
  void notePending(String message, long seq, Instant due) {
    positions.merge(message, new MessagePosition(seq, due), MessagePosition::later);
  }

  List<PendingMessage> pending(Instant until, int max) {
    var hidden = hidden();
    var there = log.subjects(subjects.messages(id));
    if (there.isEmpty()) return List.of();
    boolean single = there.values().stream().allMatch(count -> count == 1); // no id stands for two messages
    var found = single && there.size() > SMALL_COUNT ? loadDue(until, max, hidden) : loadAll(there, hidden);
    return found.stream().filter(one -> !JetStreamLog.dueTime(one).isAfter(until)).limit(max)
        .map(one -> new PendingMessage(id, StoreSubjects.message(one.getSubject()), JetStreamLog.dueTime(one),
            body(one)))
        .toList();
  }

  /** Those that are due, one after the other. */
  private List<MessageInfo> loadDue(Instant until, int max, HiddenMessages hidden) {
    var found = new ArrayList<MessageInfo>();
    String filter = subjects.messages(id);
    for (var one = log.nextMessage(filter, 1); one.isPresent() && found.size() < max; one =
        log.nextMessage(filter, one.get().getSeq() + 1))
      if (!JetStreamLog.dueTime(one.get()).isAfter(until)) filterVisible(one.stream(), hidden).forEach(found::add);
    return found;
  }

  private static byte[] body(MessageInfo one) {
    return one.getData() == null ? new byte[0] : one.getData();
  }

  Optional<Instant> dueTime(String message) {
    var hidden = hidden();
    return log.lastMessage(subject(message)).filter(one -> !hidden.has(one)).map(JetStreamLog::dueTime);
  }

  Optional<Instant> nextDueTime(Instant after) {
    return loadAll().stream().map(JetStreamLog::dueTime).filter(after::isBefore).min(Instant::compareTo);
  }

  /** As far as this process knows. */
  Map<String, MessagePosition> positions() {
    return positions;
  }

  /**
   * Returns the ids of all present messages. From then on they are known; other stores may send or
   * do some.
   */
  List<String> loadIds() {
    var before = Map.copyOf(positions); // messages that come meanwhile may be missing below
    var ids = loadAll().stream().map(one -> StoreSubjects.message(one.getSubject())).toList();
    var there = Set.copyOf(ids);
    before.forEach((message, place) -> {
      if (!there.contains(message)) positions.remove(message, place);
    });
    isComplete = isAlive;
    return ids;
  }

  boolean hasAllPositions() {
    return isComplete;
  }

  boolean isBeingRemoved(String message, long seq) {
    return removedIds.getOrDefault(message, 0L) >= seq;
  }

  // ---- what is done

  private void hideHandled(List<Done> done) {
    for (var one : done) removedIds.merge(one.id(), one.seq(), Math::max);
  }

  /** These were done by the last turns, of whatever store. */
  void removeHandled(List<Done> done) {
    hideHandled(done);
    retryRemovals();
  }

  /**
   * A life begins; these were done by the last turns. Known messages stay, because messages come
   * meanwhile and must not be too many; a look finds out which are gone.
   */
  void beginLife(List<Done> done) {
    isComplete = false;
    isAlive = true;
    removeHandled(done);
  }

  /** The life is over. */
  void endLife() {
    isAlive = false;
    isComplete = false;
    awaitRemovals();
  }

  /** Returns the messages with these ids that are present. */
  List<Done> findPresent(Collection<String> done) {
    var found = new ArrayList<Done>(done.size());
    var unknown = new ArrayList<String>();
    for (var one : done) {
      var there = positions.get(one);
      if (there == null) unknown.add(subject(one));
      else found.add(new Done(one, there.seq));
    }
    if (!unknown.isEmpty())
      for (var one : log.lastMessages(unknown))
        found.add(new Done(StoreSubjects.message(one.getSubject()), one.getSeq()));
    return found;
  }

  /** Returns messages that are done and still present: each turn names them again. */
  List<Done> stillPresent() {
    retryRemovals();
    return removedIds.entrySet().stream().map(one -> new Done(one.getKey(), one.getValue())).toList();
  }

  /** Called when a turn that names them is stored. */
  void remove(List<Done> done) {
    hideHandled(done);
    for (var one : done) {
      positions.computeIfPresent(one.id(), (same, there) -> there.seq <= one.seq() ? null : there);
      purge(one.id(), removedIds.get(one.id()));
    }
  }

  /**
   * Removes messages that could not be removed before, a few at a time, because there may be
   * thousands.
   */
  private void retryRemovals() {
    for (var one : removedIds.entrySet()) {
      if (removals.size() >= SMALL_COUNT) return;
      if (!removals.containsKey(one.getKey())) purge(one.getKey(), one.getValue());
    }
  }

  private void purge(String message, Long seq) {
    if (seq == null) return; // it is gone
    var removal = log.purge(subject(message), seq).thenAccept(stored -> {
      if (stored instanceof WriteOutcome.WriteSuccess) removedIds.remove(message, seq);
    });
    removals.put(message, removal);
    removal.whenComplete((none, failure) -> removals.remove(message, removal));
  }

  /** Another one with its id has come at this number. */
  void removeBefore(String message, long seq) {
    log.purge(subject(message), seq - 1);
  }

  /** Messages that cannot be removed now will be removed by the next life. */
  private void awaitRemovals() {
    for (int i = 0; i < 2 && !removedIds.isEmpty(); i++) {
      for (var one : List.copyOf(removals.values())) one.handle((none, failure) -> none).join();
      retryRemovals();
    }
  }
}
