package io.fibry.store.folder;

import io.fibry.store.StaleLifeException;
import io.fibry.store.StoreClosedException;
import io.fibry.store.StoreDamagedException;
import io.fibry.store.StoreException;
import io.fibry.store.StoreReadException;
import io.fibry.store.recorder.StoreEvents;
import io.fibry.text.Lines;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;

/** A log, and an index in memory of where the turns of each actor are. */
final class LogStore extends FolderStore {
  private static final int FIRST_READ_BYTES = 1024; // read at once: most records are smaller

  private final MeasuredDisk disk;
  private final LogIndex index;
  private final LongAdder turns = new LongAdder();
  private final LongAdder refusedTurns = new LongAdder();
  private final AtomicBoolean closed = new AtomicBoolean();
  private final InstantSource clock;
  private final List<LogHistory> histories = new CopyOnWriteArrayList<>(); // that are open; few
  private long id;
  private SegmentPreallocator preallocator;
  private Compaction compaction;
  private SegmentLog log;
  private LogWriter logWriter;

  private LogStore(MeasuredDisk disk, InstantSource clock) {
    this.disk = disk;
    this.clock = clock;
    this.index = new LogIndex(this::toString, this::actor, clock);
  }

  static LogStore open(StorageDirectory files, Options options) throws IOException {
    StoreEvents.prepare();
    var disk = MeasuredDisk.of(files);
    var store = new LogStore(disk, options.clock());
    store.id = StoreIdFile.open(disk, options.segmentBytes());
    store.preallocator =
        new SegmentPreallocator(disk, threads("fibry-segments"), options.segmentBytes(), System::nanoTime);
    try (var indexing = new IndexBuilder(store.index)) {
      store.log = SegmentLog.open(disk, store.id, store.preallocator, indexing);
      indexing.end();
    }
    store.index.check();
    store.compaction = new Compaction(disk, options.segmentBytes(), store.index, store.log.fullSegments(),
        () -> store.logWriter.syncFuture(), threads("fibry-compaction"),
        () -> new DiskThrottle(System::nanoTime, LockSupport::parkNanos));
    store.log.onSealed(store.compaction::onSegmentSealed);
    store.log.onSync(store::wakeHistories);
    store.logWriter =
        LogWriter.open(store.log, options.clock()::millis, TimeUnit.NANOSECONDS.convert(options.syncInterval()),
            LogWriter.QUIET_NANOS, options.maxPendingBytes());
    // May begin a pass at once, which asks the journal for a force.
    store.preallocator.onFull(store.compaction::onDiskFull);
    return store;
  }

  private static Executor threads(String name) {
    return code -> Thread.ofPlatform().daemon().name(name).start(code);
  }

  // ---- reading

  @Override
  public LoadedActor load(ActorId actor) {
    return beginLife(actor, life -> loaded(actor, life));
  }

  @Override
  public long beginLife(ActorId actor, long last) {
    return beginLife(actor, life -> {
      life.where().resumeAt(life, last);
      return life.number();
    });
  }

  /** If the use fails, the life is over. */
  private <T> T beginLife(ActorId actor, Function<ActorLocation.ActorLife, T> use) {
    checkOpen();
    var life = index.beginLife(actor);
    boolean begun = false;
    try {
      await(life.earlierTurnsDone(), actor);
      var answer = use.apply(life);
      begun = true;
      return answer;
    } finally {
      if (!begun) endLife(actor, life.number());
    }
  }

  private LoadedActor loaded(ActorId actor, ActorLocation.ActorLife life) {
    var location = life.where();
    var bodies = index.withStablePlaces(() -> {
      var all = new ArrayList<byte[]>();
      for (long place : location.places()) all.add(body(actor, (int) (place >> Integer.SIZE), (int) place));
      return all;
    });
    var loaded = new LoadedActor(life.number(), location.last(), bodies, location.pendingIds());
    location.onRead(life);
    return loaded;
  }

  @Override
  public void endLife(ActorId actor, long life) {
    index.endLife(actor, life);
  }

  void checkOpen() {
    if (logWriter.isEnded()) throw new StoreClosedException(this + " is closed");
  }

  private static void await(CompletableFuture<Void> before, ActorId actor) {
    try {
      before.get();
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw new CancellationException(actor + " was interrupted while it waited for turns of its life before");
    } catch (ExecutionException never) {
      throw new AssertionError(never);
    }
  }

  private byte[] body(ActorId actor, int segment, int offset) {
    return readRecord(actor, segment, offset, stored -> stored.actor().equals(actor)).body();
  }

  private LogRecord readRecord(Object actor, int segment, int offset, Predicate<LogRecord> expected) {
    String name = Segment.nameOf(segment);
    try {
      var stored = readRecord(name, offset);
      if (stored != null && expected.test(stored)) return stored;
    } catch (IOException failure) {
      throw new StoreReadException(actor + " cannot be read from " + this + ": " + Lines.thrown(failure), failure);
    }
    throw new StoreDamagedException(this + ": " + name + " is damaged at " + offset + ", where a turn of " + actor
        + ", or a message for it, was. Other actors are not concerned; put back a copy of the file");
  }

  /** Returns the actor by the place of one of its turns. */
  private ActorId actor(Fingerprint print, long place) {
    return readRecord("an actor", (int) (place >> Integer.SIZE), (int) place,
        stored -> index.computeFingerprint(stored.actor()).equals(print)).actor();
  }

  /** Returns null if the record is damaged. */
  private LogRecord readRecord(String name, int offset) throws IOException {
    var record = ByteBuffer.allocate(FIRST_READ_BYTES);
    disk.read(name, offset, record);
    int length = record.flip().remaining() < Integer.BYTES ? -1 : record.getInt();
    if (length < 0 || length > LogWriter.MAX_RECORD) return null;
    if (length > record.remaining()) {
      record = ByteBuffer.allocate(length);
      disk.read(name, offset + Integer.BYTES, record);
      record.flip();
    }
    return record.remaining() < length ? null : LogRecord.readChecked(record.slice(record.position(), length));
  }

  // ---- what waits

  @Override
  public List<PendingMessage> pending(ActorId actor, Instant until, int max) {
    checkOpen();
    return index.withStablePlaces(
        () -> index.expandedActor(actor).map(location -> location.pending(until, max)).orElse(List.of())
            .stream().map(one -> message(actor, one)).toList());
  }

  private PendingMessage message(ActorId actor, ActorLocation.MessageLocation place) {
    var sent = readRecord(actor, place.segment(), place.offset(),
        stored -> stored.outbox().size() > place.index() && stored.outbox().get(place.index()).to().equals(actor))
        .outbox()
        .get(place.index());
    return new PendingMessage(actor, sent.id(), sent.due(), sent.body());
  }

  @Override
  public Optional<Instant> dueTime(ActorId actor, String id) {
    checkOpen();
    Objects.requireNonNull(id, "id");
    return index.expandedActor(actor).flatMap(location -> location.due(id));
  }

  @Override
  public Optional<Instant> nextDueTime(ActorId actor, Instant after) {
    checkOpen();
    Objects.requireNonNull(after, "after");
    return index.expandedActor(actor).flatMap(location -> location.nextDueTime(after));
  }

  @Override
  public void forEachPending(String kind, BiConsumer<ActorId, Instant> reader) {
    checkOpen();
    index.forEachExpanded(location -> {
      if (location.actor().kind().equals(kind))
        for (var one : location.pending(Instant.MAX, Integer.MAX_VALUE)) reader.accept(location.actor(), one.due());
    });
  }

  @Override
  public void forEachActor(Consumer<ActorId> reader) {
    checkOpen();
    index.forEach(Objects.requireNonNull(reader, "reader"));
  }

  @Override
  public InstantSource clock() {
    return clock;
  }

  // ---- history

  @Override
  public History history(String kind, String after) {
    checkOpen();
    Objects.requireNonNull(kind, "kind");
    var history = new LogHistory(this, disk, index, log, id, kind, LogHistory.HistoryPosition.of(after, kind));
    histories.add(history);
    return history;
  }

  /** Returns when all turns that were told as stored are on disk. */
  void sync() {
    try {
      logWriter.syncFuture().join();
    } catch (CompletionException failure) {
      throw failure.getCause() instanceof StoreException known ? known : failure;
    }
  }

  void removeHistory(LogHistory closed) {
    histories.remove(closed);
  }

  private void wakeHistories() {
    for (var each : histories) each.wake();
  }

  @Override
  public void setRetention(String kind, Duration age) {
    index.setRetention(Objects.requireNonNull(kind, "kind"), Objects.requireNonNull(age, "age"));
  }

  // ---- writing

  @Override
  public CompletionStage<Void> append(Turn turn) {
    return add(turn, false);
  }

  @Override
  public void snapshot(Turn turn) {
    add(turn, true);
  }

  private CompletableFuture<Void> add(Turn turn, boolean snapshot) {
    var record = LogRecord.bytes(turn, snapshot);
    checkSize(record, "a turn of ", turn.actor());
    if (preallocator.isFull() && turn.number() == 1 && !snapshot && hasNoPending(turn.actor()))
      return refuse(preallocator.refusal(turn.actor() + " is not begun"));
    var life = index.enterTurn(turn, snapshot);
    if (life == null) return refuse(new StaleLifeException(turn));
    return add(new PendingRecord.PendingTurnRecord(this, record, life, turn, snapshot), turn.actor());
  }

  private boolean hasNoPending(ActorId actor) {
    return index.expandedActor(actor).map(location -> location.count() == 0).orElse(true);
  }

  @Override
  public CompletionStage<Boolean> enqueue(PendingMessage message, int max) {
    var record = LogRecord.bytes(message, clock.millis());
    checkSize(record, "a message for ", message.to());
    if (preallocator.isFull()) return refuse(preallocator.refusal("a message for " + message.to() + " is not kept"));
    var location = index.reserveMessage(message, max);
    if (location == null) return CompletableFuture.completedFuture(false);
    return add(new PendingRecord.PendingMessageRecord(this, record, location, message), message.to());
  }

  private void checkSize(ByteBuffer record, String what, ActorId actor) {
    if (record.remaining() > logWriter.maxRecordSize()) throw new IllegalArgumentException(
        what + actor + " takes " + record.remaining() + " bytes; " + this + " takes at most "
            + logWriter.maxRecordSize());
  }

  private <T> CompletableFuture<T> refuse(StoreException why) {
    countRefusal();
    return CompletableFuture.failedFuture(why);
  }

  private <T> CompletableFuture<T> add(PendingRecord<T> entry, ActorId actor) {
    boolean added = false;
    try {
      logWriter.add(entry);
      added = true;
      return entry;
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw new CancellationException(actor + " was interrupted while it waited for room in " + this);
    } finally {
      if (!added) {
        entry.leaveOnce();
        compact(entry.location);
      }
    }
  }

  void compact(ActorLocation location) {
    index.compact(location);
  }

  void put(PendingMessage message, int segment, int offset, int place) {
    var due = Instant.ofEpochMilli(message.due().toEpochMilli()); // as it is read
    index.addRecord(message.to(), message.id(), new ActorLocation.MessageLocation(due, segment, offset, place));
  }

  /** How far a view has read, if the turn is one of its actor. */
  void noteView(Turn turn) {
    index.viewOffsets().noteView(turn.actor(), turn.body());
  }

  /** Says that the index lacks a stored record, so records that it takes for dead may be alive. */
  void distrustIndex() {
    compaction.stop();
  }

  void count() {
    turns.increment();
  }

  void countRefusal() {
    refusedTurns.increment();
  }

  // ---- the whole

  @Override
  public Health health() {
    var stored = index.counts();
    return new Health(turns.sum(), refusedTurns.sum(), logWriter.pendingEntries(), stored.actors(),
        stored.pendingMessages(),
        stored.parkedMessages(), disk.bytes(), log.syncs(), preallocator.isFull(), log.isBroken(), log.tornFiles());
  }

  @Override
  public void backup(StorageDirectory to) {
    Objects.requireNonNull(to, "to");
    checkOpen();
    try {
      compaction.withStableFiles(() -> {
        sync();
        LogBackup.run(disk, to, id, log.fullSegments(), log.lastSynced(), this::checkOpen);
      });
    } catch (IOException failure) {
      throw new UncheckedIOException(this + " could not be copied to " + to + ": " + Lines.thrown(failure), failure);
    }
  }

  @Override
  public void close() {
    logWriter.close();
    wakeHistories();
    preallocator.close();
    compaction.close();
    if (closed.getAndSet(true)) return;
    try {
      disk.close();
    } catch (IOException failure) {
      throw new UncheckedIOException(this + " could not be closed: " + Lines.thrown(failure), failure);
    }
  }

  @Override
  public String toString() {
    return "the store in " + disk;
  }
}
