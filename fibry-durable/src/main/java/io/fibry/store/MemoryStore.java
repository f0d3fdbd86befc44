package io.fibry.store;

import io.fibry.text.Lines;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Semaphore;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * A store in memory, for tests: {@link #crash} returns the content that a disk would hold.
 * Thread-safe.
 */
public final class MemoryStore implements Store {
  /**
   * The stored part of an actor: the last whole turn, the turns after it, and the waiting messages.
   */
  private static final class StoredActor {
    private final List<Turn> turns = new ArrayList<>();
    private final Map<String, PendingMessage> pending = new LinkedHashMap<>();
    private final List<Long> places = new ArrayList<>(); // in the history
    private final TreeSet<Long> ends = new TreeSet<>(); // the places whose turns replaced all earlier ones
    private long life;
    private long last;
    private boolean isRefused; // a turn of this life was refused

    private void put(PendingMessage message) {
      pending.remove(message.id()); // so that it is the last one
      pending.put(message.id(), message);
    }
  }

  private final InstantSource clock;
  private final Map<ActorId, StoredActor> actors = new HashMap<>(); // all under this object's monitor
  private final TreeMap<Long, Turn> history = new TreeMap<>(); // by place
  private final List<MemoryHistory> readings = new ArrayList<>(); // that are not closed
  private final Map<String, Duration> ages = new HashMap<>(); // by kind: older turns may go
  private final Map<ActorId, ViewOffset> views = new HashMap<>(); // that were not forgotten
  private long lastPlace; // so far
  private int remainingFailures;
  private boolean closed;

  private MemoryStore(InstantSource clock) {
    this.clock = clock;
  }

  /** {@return an empty one} */
  public static MemoryStore open() {
    return open(InstantSource.system());
  }

  /**
   * One for tests that move time.
   *
   * @param clock says when messages are due
   * @return an empty one
   */
  public static MemoryStore open(InstantSource clock) {
    return new MemoryStore(Objects.requireNonNull(clock, "clock"));
  }

  /** {@return another store with all that is stored in this one, which takes nothing more} */
  public synchronized MemoryStore crash() {
    closed = true;
    var after = new MemoryStore(clock);
    actors.forEach((id, kept) -> {
      var copy = after.actorState(id);
      copy.turns.addAll(kept.turns);
      copy.pending.putAll(kept.pending);
      copy.places.addAll(kept.places);
      copy.ends.addAll(kept.ends);
      copy.last = kept.last;
    });
    after.history.putAll(history);
    after.ages.putAll(ages);
    after.views.putAll(views);
    after.lastPlace = lastPlace;
    wakeAll();
    return after;
  }

  /**
   * The next turns and messages are refused.
   *
   * @param writes how many
   */
  public synchronized void failNext(int writes) {
    if (writes < 0) throw new IllegalArgumentException(writes + " writes cannot be refused; give zero or more");
    remainingFailures = writes;
  }

  private StoredActor actorState(ActorId actor) {
    return actors.computeIfAbsent(Objects.requireNonNull(actor, "actor"), none -> new StoredActor());
  }

  @Override
  public synchronized LoadedActor load(ActorId actor) {
    checkOpen();
    var kept = actorState(actor);
    kept.life++;
    kept.isRefused = false;
    return new LoadedActor(kept.life, kept.last, kept.turns.stream().map(Turn::body).toList(),
        List.copyOf(kept.pending.keySet()));
  }

  @Override
  public synchronized long beginLife(ActorId actor, long last) {
    checkOpen();
    var kept = actorState(actor);
    kept.life++;
    kept.isRefused = false;
    kept.last = last;
    return kept.life;
  }

  @Override
  public CompletionStage<Void> append(Turn turn) {
    return store(turn, false);
  }

  @Override
  public CompletionStage<Void> end(Turn turn) {
    return store(turn, true);
  }

  private synchronized CompletionStage<Void> store(Turn turn, boolean ends) {
    try {
      checkOpen();
      var kept = actorState(turn.actor());
      if (turn.life() != kept.life || turn.number() != kept.last + 1 || kept.isRefused)
        throw new StaleLifeException(turn);
      kept.isRefused = true;
      failIfAsked();
      kept.isRefused = false;
      if (turn.isFullState()) kept.turns.clear();
      kept.turns.add(turn);
      history.put(++lastPlace, turn);
      kept.places.add(lastPlace);
      if (turn.isFullState()) forgetBefore(kept, lastPlace, ends ? minViewPlace(turn.actor().kind()) : Long.MAX_VALUE);
      kept.last = turn.number();
      turn.handledIds().forEach(kept.pending::remove);
      for (var message : turn.outbox()) actorState(message.to()).put(message);
      ViewOffset.kindOf(turn.actor()).ifPresent(kind -> moveView(kind, turn));
      wakeAll();
      return CompletableFuture.completedFuture(null);
    } catch (StoreException refused) {
      return CompletableFuture.failedFuture(refused);
    }
  }

  @Override
  public synchronized void snapshot(Turn turn) {
    var kept = actors.get(turn.actor());
    if (kept == null || turn.life() != kept.life || turn.number() != kept.last) return;
    kept.turns.clear();
    kept.turns.add(turn);
    forgetOld(turn.actor(), kept);
  }

  @Override
  public synchronized CompletionStage<Boolean> enqueue(PendingMessage message, int max) {
    try {
      checkOpen();
      var kept = actorState(message.to());
      if (kept.pending.values().stream().filter(one -> !one.due().isAfter(message.due())).count() >= max)
        return CompletableFuture.completedFuture(false);
      failIfAsked();
      kept.put(message);
      return CompletableFuture.completedFuture(true);
    } catch (StoreException refused) {
      return CompletableFuture.failedFuture(refused);
    }
  }

  @Override
  public synchronized List<PendingMessage> pending(ActorId actor, Instant until, int max) {
    checkOpen();
    return actorState(actor).pending.values().stream().filter(one -> !one.due().isAfter(until)).limit(max).toList();
  }

  @Override
  public synchronized Optional<Instant> dueTime(ActorId actor, String id) {
    checkOpen();
    return Optional.ofNullable(actorState(actor).pending.get(id)).map(PendingMessage::due);
  }

  @Override
  public synchronized Optional<Instant> nextDueTime(ActorId actor, Instant after) {
    checkOpen();
    return actorState(actor).pending.values().stream().map(PendingMessage::due)
        .filter(Objects.requireNonNull(after, "after")::isBefore).min(Instant::compareTo);
  }

  @Override
  public void forEachPending(String kind, BiConsumer<ActorId, Instant> reader) {
    List<PendingMessage> all;
    synchronized (this) {
      checkOpen();
      all = actors.values().stream().flatMap(kept -> kept.pending.values().stream())
          .filter(one -> one.to().kind().equals(kind)).toList();
    }
    for (var one : all) reader.accept(one.to(), one.due());
  }

  @Override
  public void forEachActor(Consumer<ActorId> reader) {
    Objects.requireNonNull(reader, "reader");
    List<ActorId> all;
    synchronized (this) {
      checkOpen();
      all = actors.entrySet().stream().filter(one -> one.getValue().last > 0 || !one.getValue().pending.isEmpty())
          .map(Map.Entry::getKey).toList();
    }
    all.forEach(reader);
  }

  // ---- history

  private final class MemoryHistory implements History {
    private final String kind;
    private final Semaphore wakeUps = new Semaphore(0);
    private long at; // the place of the turn that was read last
    private volatile boolean isEnded;

    MemoryHistory(String kind, long at) {
      this.kind = kind;
      this.at = at;
    }

    @Override
    public List<StoredTurn> take() throws InterruptedException {
      while (true) {
        wakeUps.drainPermits();
        var found = poll();
        if (!found.isEmpty()) return found;
        wakeUps.acquire();
      }
    }

    @Override
    public List<StoredTurn> poll() {
      return readTurns(this);
    }

    @Override
    public void close() {
      isEnded = true;
      end(this);
      wakeUps.release();
    }
  }

  @Override
  public synchronized History history(String kind, String after) {
    checkOpen();
    Objects.requireNonNull(kind, "kind");
    if (!after.matches("\\d{0,18}"))
      throw new IllegalArgumentException("'" + Lines.line(after) + "' is no place in the history of " + this);
    var reading = new MemoryHistory(kind, after.isEmpty() ? 0 : Long.parseLong(after));
    readings.add(reading);
    return reading;
  }

  private synchronized List<StoredTurn> readTurns(MemoryHistory reading) {
    checkOpen();
    if (reading.isEnded) throw new StoreClosedException("a history that was closed");
    var found = new ArrayList<StoredTurn>();
    history.tailMap(reading.at, false).forEach((place, turn) -> {
      reading.at = place;
      if (turn.actor().kind().equals(reading.kind))
        found.add(new StoredTurn(place.toString(), turn.actor().key(), turn.number(), turn.at(), turn.isFullState(),
            turn.body()));
    });
    return found;
  }

  private synchronized void end(MemoryHistory reading) {
    readings.remove(reading);
  }

  private void wakeAll() {
    for (var each : readings) each.wakeUps.release();
  }

  @Override
  public synchronized void setRetention(String kind, Duration age) {
    ages.put(Objects.requireNonNull(kind, "kind"), Objects.requireNonNull(age, "age"));
    actors.forEach(this::forgetOld);
  }

  private void forgetOld(ActorId actor, StoredActor kept) {
    var age = ages.get(actor.kind());
    if (age == null) return;
    var last = clock.instant().minus(age);
    kept.places.removeIf(place -> {
      boolean goes = history.get(place).at().isBefore(last) && !kept.turns.contains(history.get(place));
      if (goes) history.remove(place);
      return goes;
    });
  }

  // ---- views

  private void moveView(String kind, Turn turn) {
    ViewOffset.of(turn.actor(), turn.body()).ifPresentOrElse(view -> views.put(turn.actor(), view),
        () -> views.remove(turn.actor()));
    long least = minViewPlace(kind);
    actors.forEach((id, kept) -> {
      var end = kept.ends.floor(least);
      if (end != null && id.kind().equals(kind)) forgetBefore(kept, end, least);
    });
  }

  /** All views of the kind have passed it. */
  private long minViewPlace(String kind) {
    return views.values().stream().filter(view -> view.kind().equals(kind)).map(ViewOffset::offset)
        .mapToLong(place -> place.isEmpty() ? 0 : Long.parseLong(place)).min().orElse(Long.MAX_VALUE);
  }

  /** The turn at the end has replaced those before, which go if all views have passed it. */
  private void forgetBefore(StoredActor kept, long end, long passed) {
    if (end > passed) kept.ends.add(end);
    else {
      kept.ends.headSet(end, true).clear();
      kept.places.removeIf(place -> place < end && history.remove(place) != null);
    }
  }

  @Override
  public InstantSource clock() {
    return clock;
  }

  private void failIfAsked() {
    if (remainingFailures == 0) return;
    remainingFailures--;
    throw new StoreWriteException("a write failed, as the test has asked for", null);
  }

  private void checkOpen() {
    if (closed) throw new StoreClosedException("the store in memory is closed");
  }

  @Override
  public synchronized void close() {
    closed = true;
    wakeAll();
  }

  @Override
  public String toString() {
    return "a store in memory";
  }
}
