package io.fibry.store;

import io.fibry.store.spi.HistoryCursor;
import io.fibry.store.spi.StoreBackend;
import io.fibry.store.spi.ViewOffset;
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
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/** The implementation of {@link MemoryStore}: maps that one monitor guards. */
final class MapStore extends MemoryStore implements StoreBackend {
  /**
   * All stored data of an actor: its last full-state turn, the turns after it, and its messages.
   */
  private static final class StoredActor {
    private final List<Turn> turns = new ArrayList<>();
    private final Map<String, PendingMessage> pending = new LinkedHashMap<>();
    private final List<Long> offsets = new ArrayList<>(); // offsets of its turns in the history
    // Offsets of turns that erased the actor, as long as a view has not read up to them.
    private final TreeSet<Long> endOffsets = new TreeSet<>();
    private long life;
    private long lastTurn; // the number of the last stored turn
    private boolean hasRefusedTurn; // whether a turn of this life was refused; then later turns are, too

    private void put(PendingMessage message) {
      pending.remove(message.id()); // so that the message moves to the end of the map
      pending.put(message.id(), message);
    }
  }

  private final InstantSource clock;
  private final Map<ActorId, StoredActor> actors = new HashMap<>(); // guarded by the monitor, as are the next fields
  private final TreeMap<Long, Turn> history = new TreeMap<>(); // by offset
  private final List<MemoryHistory> openHistories = new CopyOnWriteArrayList<>(); // thread-safe
  private final Map<String, Duration> retention = new HashMap<>(); // by kind: the age after which turns may be deleted
  private final Map<ActorId, ViewOffset> views = new HashMap<>(); // by actor of the view, without forgotten views
  private long lastOffset; // the offset of the last stored turn
  private int remainingFailures; // how many of the next writes fail
  private boolean closed;

  MapStore(InstantSource clock) {
    this.clock = clock;
  }

  @Override
  public synchronized MemoryStore crash() {
    closed = true;
    var survivor = new MapStore(clock);
    actors.forEach((id, stored) -> {
      var copy = survivor.storedActor(id);
      copy.turns.addAll(stored.turns);
      copy.pending.putAll(stored.pending);
      copy.offsets.addAll(stored.offsets);
      copy.endOffsets.addAll(stored.endOffsets);
      copy.lastTurn = stored.lastTurn;
    });
    survivor.history.putAll(history);
    survivor.retention.putAll(retention);
    survivor.views.putAll(views);
    survivor.lastOffset = lastOffset;
    openHistories.forEach(HistoryCursor::wake);
    return survivor;
  }

  @Override
  public synchronized void failNext(int writes) {
    if (writes < 0) throw new IllegalArgumentException(writes + " writes cannot be refused; give zero or more");
    remainingFailures = writes;
  }

  private StoredActor storedActor(ActorId actor) {
    return actors.computeIfAbsent(Objects.requireNonNull(actor, "actor"), key -> new StoredActor());
  }

  @Override
  public synchronized LoadedActor load(ActorId actor) {
    checkOpen();
    var stored = storedActor(actor);
    stored.life++;
    stored.hasRefusedTurn = false;
    return new LoadedActor(stored.life, stored.lastTurn, stored.turns.stream().map(Turn::body).toList(),
        List.copyOf(stored.pending.keySet()));
  }

  @Override
  public synchronized long beginLife(ActorId actor, long lastTurn) {
    checkOpen();
    var stored = storedActor(actor);
    stored.life++;
    stored.hasRefusedTurn = false;
    stored.lastTurn = lastTurn;
    return stored.life;
  }

  @Override
  public CompletionStage<Void> append(Turn turn) {
    return store(turn, false);
  }

  @Override
  public CompletionStage<Void> end(Turn turn) {
    return store(turn, true);
  }

  private synchronized CompletionStage<Void> store(Turn turn, boolean isEnd) {
    try {
      checkOpen();
      var stored = storedActor(turn.actor());
      if (turn.life() != stored.life || turn.number() != stored.lastTurn + 1 || stored.hasRefusedTurn)
        throw new StaleLifeException(turn.actor(), turn.number());
      stored.hasRefusedTurn = true; // stays true if failIfRequested throws
      failIfRequested();
      stored.hasRefusedTurn = false;
      if (turn.isFullState()) stored.turns.clear();
      stored.turns.add(turn);
      history.put(++lastOffset, turn);
      stored.offsets.add(lastOffset);
      if (turn.isFullState())
        deleteReplaced(stored, lastOffset, isEnd ? minViewOffset(turn.actor().kind()) : Long.MAX_VALUE);
      stored.lastTurn = turn.number();
      turn.handledIds().forEach(stored.pending::remove);
      for (var message : turn.outbox()) storedActor(message.to()).put(message);
      ViewOffset.kindReadBy(turn.actor()).ifPresent(kind -> updateView(kind, turn));
      openHistories.forEach(HistoryCursor::wake);
      return CompletableFuture.completedFuture(null);
    } catch (StoreException refused) {
      return CompletableFuture.failedFuture(refused);
    }
  }

  @Override
  public synchronized void snapshot(Turn turn) {
    var stored = actors.get(turn.actor());
    if (stored == null || turn.life() != stored.life || turn.number() != stored.lastTurn) return;
    stored.turns.clear();
    stored.turns.add(turn);
    deleteOld(turn.actor(), stored);
  }

  @Override
  public synchronized CompletionStage<Boolean> enqueue(PendingMessage message, int maxPending) {
    try {
      checkOpen();
      var stored = storedActor(message.to());
      if (stored.pending.values().stream().filter(waiting -> !waiting.due().isAfter(message.due())).count()
          >= maxPending)
        return CompletableFuture.completedFuture(false);
      failIfRequested();
      stored.put(message);
      return CompletableFuture.completedFuture(true);
    } catch (StoreException refused) {
      return CompletableFuture.failedFuture(refused);
    }
  }

  @Override
  public synchronized List<PendingMessage> pending(ActorId actor, Instant until, int maxMessages) {
    checkOpen();
    return storedActor(actor).pending.values().stream().filter(message -> !message.due().isAfter(until))
        .limit(maxMessages).toList();
  }

  @Override
  public synchronized Optional<Instant> dueTime(ActorId actor, String id) {
    checkOpen();
    return Optional.ofNullable(storedActor(actor).pending.get(id)).map(PendingMessage::due);
  }

  @Override
  public synchronized Optional<Instant> nextDueTime(ActorId actor, Instant after) {
    checkOpen();
    return storedActor(actor).pending.values().stream().map(PendingMessage::due)
        .filter(Objects.requireNonNull(after, "after")::isBefore).min(Instant::compareTo);
  }

  @Override
  public void forEachPending(String kind, BiConsumer<ActorId, Instant> reader) {
    List<PendingMessage> messages;
    synchronized (this) {
      checkOpen();
      messages = actors.values().stream().flatMap(stored -> stored.pending.values().stream())
          .filter(message -> message.to().kind().equals(kind)).toList();
    }
    for (var message : messages) reader.accept(message.to(), message.due());
  }

  @Override
  public void forEachActor(Consumer<ActorId> reader) {
    Objects.requireNonNull(reader, "reader");
    List<ActorId> ids;
    synchronized (this) {
      checkOpen();
      ids = actors.entrySet().stream()
          .filter(entry -> entry.getValue().lastTurn > 0 || !entry.getValue().pending.isEmpty())
          .map(Map.Entry::getKey).toList();
    }
    ids.forEach(reader);
  }

  // ---- history

  private final class MemoryHistory extends HistoryCursor {
    private final String kind;
    private long offset; // the offset of the turn that was read last

    MemoryHistory(String kind, long offset) {
      super("the history of " + kind + " in " + MapStore.this, openHistories);
      this.kind = kind;
      this.offset = offset;
    }

    @Override
    public List<StoredTurn> poll() {
      synchronized (MapStore.this) {
        MapStore.this.checkOpen();
        checkOpen();
        var turns = new ArrayList<StoredTurn>();
        history.tailMap(offset, false).forEach((turnOffset, turn) -> {
          offset = turnOffset;
          if (turn.actor().kind().equals(kind)) turns.add(new StoredTurn(turnOffset.toString(), turn.actor().key(),
              turn.number(), turn.at(), turn.isFullState(), turn.body()));
        });
        return turns;
      }
    }
  }

  @Override
  public synchronized History history(String kind, String afterOffset) {
    checkOpen();
    Objects.requireNonNull(kind, "kind");
    if (!afterOffset.matches("\\d{0,18}"))
      throw new IllegalArgumentException("'" + Lines.line(afterOffset) + "' is no offset in the history of " + this);
    var openHistory = new MemoryHistory(kind, afterOffset.isEmpty() ? 0 : Long.parseLong(afterOffset));
    openHistories.add(openHistory);
    return openHistory;
  }

  @Override
  public synchronized void setRetention(String kind, Duration age) {
    retention.put(Objects.requireNonNull(kind, "kind"), Objects.requireNonNull(age, "age"));
    actors.forEach(this::deleteOld);
  }

  private void deleteOld(ActorId actor, StoredActor stored) {
    var age = retention.get(actor.kind());
    if (age == null) return;
    var cutoff = clock.instant().minus(age);
    stored.offsets.removeIf(offset -> {
      boolean isDeleted = history.get(offset).at().isBefore(cutoff) && !stored.turns.contains(history.get(offset));
      if (isDeleted) history.remove(offset);
      return isDeleted;
    });
  }

  // ---- views

  private void updateView(String kind, Turn turn) {
    ViewOffset.of(turn.actor(), turn.body()).ifPresentOrElse(view -> views.put(turn.actor(), view),
        () -> views.remove(turn.actor()));
    long minOffset = minViewOffset(kind);
    actors.forEach((id, stored) -> {
      var endOffset = stored.endOffsets.floor(minOffset);
      if (endOffset != null && id.kind().equals(kind)) deleteReplaced(stored, endOffset, minOffset);
    });
  }

  /**
   * Returns the offset up to which all views of a kind have read; MAX_VALUE if it has no views.
   */
  private long minViewOffset(String kind) {
    return views.values().stream().filter(view -> view.kind().equals(kind)).map(ViewOffset::offset)
        .mapToLong(offset -> offset.isEmpty() ? 0 : Long.parseLong(offset)).min().orElse(Long.MAX_VALUE);
  }

  /**
   * Deletes the turns before the offset of a full-state turn that replaced them. If a view has not
   * read up to this offset, adds the offset to {@code endOffsets} instead.
   */
  private void deleteReplaced(StoredActor stored, long replacedBefore, long minViewOffset) {
    if (replacedBefore > minViewOffset) stored.endOffsets.add(replacedBefore);
    else {
      stored.endOffsets.headSet(replacedBefore, true).clear();
      stored.offsets.removeIf(offset -> offset < replacedBefore && history.remove(offset) != null);
    }
  }

  @Override
  public InstantSource clock() {
    return clock;
  }

  private void failIfRequested() {
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
    openHistories.forEach(HistoryCursor::wake);
  }

  @Override
  public String toString() {
    return "a store in memory";
  }
}
