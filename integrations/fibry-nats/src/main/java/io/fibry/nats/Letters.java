package io.fibry.nats;

import io.fibry.nats.Log.Addition;
import io.fibry.store.Store;
import io.fibry.store.Store.Waiting;
import io.nats.client.api.MessageInfo;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/**
 * What waits for an actor. Each message has a subject of its own, so that another one with its id
 * takes its place. What a turn has done is said by the turn; then it is taken away, and as long as
 * it is there nobody sees it. Thread-safe.
 */
final class Letters {
  private static final int MOST_LEAVING = 500;

  /** Where a message is in the stream, and when it is due. */
  private record Known(long seq, Instant due) {}

  /** A message that is there. */
  private record Seen(String id, long seq, Instant due, Optional<byte[]> body) {}

  /** A message on its way. */
  private record Given(Task.Accept task, Log.Attempt attempt, CompletableFuture<Stored> first) {}

  private final StreamStore store;
  private final Log log;
  private final Store.Id id;
  private final Lane<Task.Accept> lane;
  private final Map<String, Known> known = new ConcurrentHashMap<>(); // by id; others may have taken some away
  private final Map<String, Long> leaving = new ConcurrentHashMap<>(); // done up to this number, by id
  private final Map<String, CompletableFuture<Void>> removals = new ConcurrentHashMap<>(); // under way, by id
  private boolean complete; // of the lane: all that is there has been seen once
  private volatile boolean owned; // no other store takes messages of this actor away

  Letters(StreamStore store, Store.Id id, Runnable idle) {
    this.store = store;
    this.log = store.log();
    this.id = id;
    this.lane = new Lane<>("letters of " + id, this::accept, idle);
  }

  Lane<Task.Accept> lane() {
    return lane;
  }

  private String subject(String message) {
    return store.subjects().message(id, message);
  }

  // ---- accepting

  private void accept(List<Task.Accept> tasks) {
    try {
      settle(send(tasks));
    } catch (Throwable failure) {
      for (var one : tasks) one.completeExceptionally(store.refusal(failure));
    }
  }

  private List<Given> send(List<Task.Accept> tasks) {
    var given = new ArrayList<Given>();
    boolean fresh = !complete && tasks.stream().anyMatch(one -> one.most() < Integer.MAX_VALUE);
    if (fresh) look();
    for (var task : tasks) {
      if (!fresh && !hasRoom(task, given)) { // others may have taken some away
        look();
        fresh = true;
      }
      if (hasRoom(task, given)) given.add(send(task));
      else task.complete(false);
    }
    return given;
  }

  private void look() {
    var there = all().stream().collect(Collectors.toMap(Seen::id, one -> new Known(one.seq, one.due)));
    known.keySet().retainAll(there.keySet());
    known.putAll(there);
    complete = true;
  }

  private boolean hasRoom(Task.Accept task, List<Given> given) {
    if (known.size() + given.size() < task.most()) return true;
    var due = task.message().due();
    long on = given.stream().map(one -> one.task.message())
        .filter(one -> !known.containsKey(one.id()) && !one.due().isAfter(due)).count();
    return on + known.values().stream().filter(one -> !one.due.isAfter(due)).count() < task.most();
  }

  private Given send(Task.Accept task) {
    var message = task.message();
    String once = store.unique();
    Log.Attempt attempt = () -> log.add(addition(message), once);
    return new Given(task, attempt, attempt.make());
  }

  Addition addition(Waiting message) {
    return new Addition(store.subjects().message(message.to(), message.id()), Optional.of(message.due()),
        message.body());
  }

  /**
   * One that is tried again must not get behind those after it: so that is done only where these
   * have not arrived either.
   */
  private void settle(List<Given> given) {
    var outcomes = given.stream().map(one -> one.first.join()).toList();
    int arrived = given.size();
    while (arrived > 0 && outcomes.get(arrived - 1) instanceof Stored.Again) arrived--;
    for (int i = 0; i < arrived; i++) settle(given.get(i).task, outcomes.get(i));
    for (int i = arrived; i < given.size(); i++) settle(given.get(i).task, log.settle(given.get(i).attempt));
  }

  private void settle(Task.Accept task, Stored outcome) {
    if (outcome instanceof Stored.Here here) {
      note(task.message(), here.seq());
      task.complete(true);
    } else task.completeExceptionally(store.refusal(outcome, "a message for " + id));
  }

  /** It waits from now on. */
  void note(Waiting message, long seq) {
    known.merge(message.id(), new Known(seq, message.due()), (one, other) -> one.seq > other.seq ? one : other);
  }

  // ---- what is there

  /** From now on, no other store takes away what waits. These were done by the last turns. */
  void own(List<JournalEntry.Done> done) {
    known.clear();
    leaving.clear();
    owned = true;
    for (var one : done) remove(one.id(), one.seq());
  }

  /** In order. */
  private List<Seen> all() {
    var there = log.subjects(store.subjects().messages(id));
    var seen = new ArrayList<Seen>(there.size());
    var unknown = new ArrayList<String>();
    there.forEach((subject, count) -> {
      String message = LogSubjects.message(subject);
      var one = owned && count == 1 ? known.get(message) : null; // of several, the last one counts
      if (one == null) unknown.add(subject);
      else seen.add(new Seen(message, one.seq, one.due, Optional.empty()));
    });
    if (!unknown.isEmpty()) for (var one : log.lasts(unknown)) seen.add(seen(one));
    seen.removeIf(one -> isLeaving(one.id, one.seq));
    seen.sort(Comparator.comparingLong(Seen::seq));
    if (owned) for (var one : seen) known.putIfAbsent(one.id, new Known(one.seq, one.due));
    return seen;
  }

  private static Seen seen(MessageInfo message) {
    return new Seen(LogSubjects.message(message.getSubject()), message.getSeq(), Log.due(message),
        Optional.of(message.getData() == null ? new byte[0] : message.getData()));
  }

  boolean isLeaving(String message, long seq) {
    return leaving.getOrDefault(message, 0L) >= seq;
  }

  List<String> ids() {
    return all().stream().map(Seen::id).toList();
  }

  List<Waiting> waiting(Instant until, int most) {
    var found = all().stream().filter(one -> !one.due.isAfter(until)).limit(most).toList();
    var bodies = new HashMap<String, byte[]>();
    var unread = found.stream().filter(one -> one.body.isEmpty()).map(one -> subject(one.id)).toList();
    if (!unread.isEmpty())
      for (var one : log.lasts(unread)) seen(one).body.ifPresent(body -> bodies.put(seen(one).id, body));
    return found.stream().filter(one -> one.body.isPresent() || bodies.containsKey(one.id))
        .map(one -> new Waiting(id, one.id, one.due, one.body.orElseGet(() -> bodies.get(one.id)))).toList();
  }

  Optional<Instant> due(String message) {
    return log.last(subject(message)).map(Letters::seen).filter(one -> !isLeaving(one.id, one.seq)).map(Seen::due);
  }

  Optional<Instant> next(Instant after) {
    return all().stream().map(Seen::due).filter(after::isBefore).min(Instant::compareTo);
  }

  // ---- what is done

  /** Which messages these are, as far as they are there. */
  List<JournalEntry.Done> found(Collection<String> done) {
    var found = new ArrayList<JournalEntry.Done>(done.size());
    var unknown = new ArrayList<String>();
    for (var one : done) {
      var there = known.get(one);
      if (there == null) unknown.add(subject(one));
      else found.add(new JournalEntry.Done(one, there.seq));
    }
    if (!unknown.isEmpty()) for (var one : log.lasts(unknown))
      found.add(new JournalEntry.Done(LogSubjects.message(one.getSubject()), one.getSeq()));
    return found;
  }

  /** What is done, and still there: each turn says it again. */
  List<JournalEntry.Done> leaving() {
    if (leaving.size() > MOST_LEAVING) awaitRemovals();
    return leaving.entrySet().stream().map(one -> new JournalEntry.Done(one.getKey(), one.getValue())).toList();
  }

  /** A turn that says so is stored. */
  void remove(String message, long seq) {
    leaving.merge(message, seq, Math::max);
    known.computeIfPresent(message, (same, one) -> one.seq <= seq ? null : one);
    var removal = log.purge(subject(message), seq).thenAccept(stored -> {
      if (stored instanceof Stored.Here) leaving.remove(message, seq);
    });
    removals.put(message, removal);
    removal.whenComplete((none, failure) -> removals.remove(message, removal));
  }

  /** What could not be taken away is done again by the next life. */
  void awaitRemovals() {
    for (var one : List.copyOf(removals.values())) one.handle((none, failure) -> none).join();
  }

  void leave() {
    awaitRemovals();
    owned = false;
  }
}
