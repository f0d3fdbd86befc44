package io.fibry.nats;

import io.fibry.nats.JetStreamLog.StreamMessage;
import io.fibry.nats.JournalEntry.Done;
import io.fibry.store.Store.PendingMessage;
import io.fibry.store.Store;
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
  private static final int FEW = 256; // they are asked for all at once

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
  private final Map<String, MessagePosition> known = new ConcurrentHashMap<>();
  private final Map<String, Long> leaving = new ConcurrentHashMap<>(); // done up to this number, by id
  private final Map<String, CompletableFuture<Void>> removals = new ConcurrentHashMap<>(); // running removals, by id
  private volatile boolean alive; // a life has begun here, so no other store should take messages away
  private volatile boolean complete; // all that was there when that began is known

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
  private List<MessageInfo> all() {
    var hidden = hidden();
    return all(log.subjects(subjects.messages(id)), hidden);
  }

  private List<MessageInfo> all(Map<String, Long> there, HiddenMessages hidden) {
    return seen(log.lasts(there.keySet()).stream(), hidden).sorted(Comparator.comparingLong(MessageInfo::getSeq))
        .toList();
  }

  /** Messages that are removed during a reading were done before, too. */
  private HiddenMessages hidden() {
    return new HiddenMessages(Map.copyOf(leaving), leaving);
  }

  private Stream<MessageInfo> seen(Stream<MessageInfo> found, HiddenMessages hidden) {
    return found.filter(one -> !hidden.has(one)).peek(this::note);
  }

  private void note(MessageInfo one) {
    note(StoreSubjects.message(one.getSubject()), one.getSeq(), JetStreamLog.due(one));
  }

  /** It waits from now on. */
  void note(String message, long seq, Instant due) {
    known.merge(message, new MessagePosition(seq, due), MessagePosition::later);
  }

  List<PendingMessage> waiting(Instant until, int most) {
    var hidden = hidden();
    var there = log.subjects(subjects.messages(id));
    if (there.isEmpty()) return List.of();
    boolean single = there.values().stream().allMatch(count -> count == 1); // no id stands for two messages
    var found = single && there.size() > FEW ? first(until, most, hidden) : all(there, hidden);
    return found.stream().filter(one -> !JetStreamLog.due(one).isAfter(until)).limit(most)
        .map(one -> new PendingMessage(id, StoreSubjects.message(one.getSubject()), JetStreamLog.due(one), body(one)))
        .toList();
  }

  /** Those that are due, one after the other. */
  private List<MessageInfo> first(Instant until, int most, HiddenMessages hidden) {
    var found = new ArrayList<MessageInfo>();
    String filter = subjects.messages(id);
    for (var one = log.next(filter, 1); one.isPresent() && found.size() < most; one =
        log.next(filter, one.get().getSeq() + 1))
      if (!JetStreamLog.due(one.get()).isAfter(until)) seen(one.stream(), hidden).forEach(found::add);
    return found;
  }

  private static byte[] body(MessageInfo one) {
    return one.getData() == null ? new byte[0] : one.getData();
  }

  Optional<Instant> due(String message) {
    var hidden = hidden();
    return log.last(subject(message)).filter(one -> !hidden.has(one)).map(JetStreamLog::due);
  }

  Optional<Instant> next(Instant after) {
    return all().stream().map(JetStreamLog::due).filter(after::isBefore).min(Instant::compareTo);
  }

  /** As far as this process knows. */
  Map<String, MessagePosition> known() {
    return known;
  }

  /**
   * Returns the ids of all present messages. From then on they are known; other stores may send or
   * do some.
   */
  List<String> look() {
    var before = Map.copyOf(known); // messages that come meanwhile may be missing below
    var ids = all().stream().map(one -> StoreSubjects.message(one.getSubject())).toList();
    var there = Set.copyOf(ids);
    before.forEach((message, place) -> {
      if (!there.contains(message)) known.remove(message, place);
    });
    complete = alive;
    return ids;
  }

  boolean areKnown() {
    return complete;
  }

  boolean isLeaving(String message, long seq) {
    return leaving.getOrDefault(message, 0L) >= seq;
  }

  // ---- what is done

  private void hide(List<Done> done) {
    for (var one : done) leaving.merge(one.id(), one.seq(), Math::max);
  }

  /** These were done by the last turns, of whatever store. */
  void takeAway(List<Done> done) {
    hide(done);
    retry();
  }

  /**
   * A life begins; these were done by the last turns. Known messages stay, because messages come
   * meanwhile and must not be too many; a look finds out which are gone.
   */
  void begin(List<Done> done) {
    complete = false;
    alive = true;
    takeAway(done);
  }

  /** The life is over. */
  void leave() {
    alive = false;
    complete = false;
    awaitRemovals();
  }

  /** Returns the messages with these ids that are present. */
  List<Done> found(Collection<String> done) {
    var found = new ArrayList<Done>(done.size());
    var unknown = new ArrayList<String>();
    for (var one : done) {
      var there = known.get(one);
      if (there == null) unknown.add(subject(one));
      else found.add(new Done(one, there.seq));
    }
    if (!unknown.isEmpty())
      for (var one : log.lasts(unknown)) found.add(new Done(StoreSubjects.message(one.getSubject()), one.getSeq()));
    return found;
  }

  /** Returns messages that are done and still present: each turn names them again. */
  List<Done> leaving() {
    retry();
    return leaving.entrySet().stream().map(one -> new Done(one.getKey(), one.getValue())).toList();
  }

  /** Called when a turn that names them is stored. */
  void remove(List<Done> done) {
    hide(done);
    for (var one : done) {
      known.computeIfPresent(one.id(), (same, there) -> there.seq <= one.seq() ? null : there);
      purge(one.id(), leaving.get(one.id()));
    }
  }

  /**
   * Removes messages that could not be removed before, a few at a time, because there may be
   * thousands.
   */
  private void retry() {
    for (var one : leaving.entrySet()) {
      if (removals.size() >= FEW) return;
      if (!removals.containsKey(one.getKey())) purge(one.getKey(), one.getValue());
    }
  }

  private void purge(String message, Long seq) {
    if (seq == null) return; // it is gone
    var removal = log.purge(subject(message), seq).thenAccept(stored -> {
      if (stored instanceof WriteOutcome.WriteSuccess) leaving.remove(message, seq);
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
    for (int i = 0; i < 2 && !leaving.isEmpty(); i++) {
      for (var one : List.copyOf(removals.values())) one.handle((none, failure) -> none).join();
      retry();
    }
  }
}
