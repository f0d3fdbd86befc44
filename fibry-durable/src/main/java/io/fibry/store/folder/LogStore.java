package io.fibry.store.folder;

import io.fibry.store.StaleLifeException;
import io.fibry.store.StoreClosedException;
import io.fibry.store.StoreDamagedException;
import io.fibry.store.StoreException;
import io.fibry.store.StoreReadException;
import io.fibry.store.folder.compaction.Compaction;
import io.fibry.store.folder.compaction.DiskThrottle;
import io.fibry.store.folder.disk.SizedDisk;
import io.fibry.store.folder.index.ActorFingerprint;
import io.fibry.store.folder.index.ActorLocation;
import io.fibry.store.folder.index.IndexBuilder;
import io.fibry.store.folder.index.LogIndex;
import io.fibry.store.folder.log.HistoryPosition;
import io.fibry.store.folder.log.LogBackup;
import io.fibry.store.folder.log.LogRecord;
import io.fibry.store.folder.log.LogWriter;
import io.fibry.store.folder.log.Segment;
import io.fibry.store.folder.log.SegmentLog;
import io.fibry.store.folder.log.SegmentPreallocator;
import io.fibry.store.folder.log.StoreIdFile;
import io.fibry.store.recorder.StoreEvents;
import io.fibry.store.spi.StoreBackend;
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

/**
 * A store that consists of a log on disk and an index in memory. The index has the positions of
 * each actor's records.
 */
final class LogStore extends FolderStore implements StoreBackend {
  private static final int FIRST_READ_BYTES = 1024; // size of the first read of a record; most records fit into it

  private final SizedDisk disk;
  private final LogIndex index;
  private final LongAdder turns = new LongAdder();
  private final LongAdder refusals = new LongAdder(); // refused turns and messages
  private final AtomicBoolean isClosed = new AtomicBoolean();
  private final InstantSource clock;
  private final List<LogHistory> histories = new CopyOnWriteArrayList<>(); // the open histories; few
  private long id;
  private SegmentPreallocator preallocator;
  private Compaction compaction;
  private SegmentLog log;
  private LogWriter logWriter;

  private LogStore(SizedDisk disk, InstantSource clock) {
    this.disk = disk;
    this.clock = clock;
    this.index = new LogIndex(this::toString, this::resolveActor, clock);
  }

  static LogStore open(StorageDirectory directory, Options options) throws IOException {
    StoreEvents.prepare();
    var disk = SizedDisk.of(directory);
    var store = new LogStore(disk, options.clock());
    store.id = StoreIdFile.readOrCreate(disk, options.segmentBytes());
    store.preallocator =
        new SegmentPreallocator(disk, threadPerTask("fibry-segments"), options.segmentBytes(), System::nanoTime);
    try (var indexBuilder = new IndexBuilder(store.index)) {
      store.log = SegmentLog.open(disk, store.id, store.preallocator, indexBuilder);
      indexBuilder.end();
    }
    store.index.check();
    store.compaction = new Compaction(disk, options.segmentBytes(), store.index, store.log.sealedSegments(),
        () -> store.logWriter.syncFuture(), threadPerTask("fibry-compaction"),
        () -> new DiskThrottle(System::nanoTime, LockSupport::parkNanos));
    store.log.onSealed(store.compaction::onSegmentSealed);
    store.log.onSync(store::wakeHistories);
    store.logWriter =
        LogWriter.open(store.log, options.clock()::millis, TimeUnit.NANOSECONDS.convert(options.syncInterval()),
            LogWriter.QUIET_NANOS, options.maxPendingBytes());
    // Must be last: the listener may begin a pass of compaction at once, and the pass requests a
    // sync of the journal.
    store.preallocator.onFull(store.compaction::onDiskFull);
    return store;
  }

  private static Executor threadPerTask(String name) {
    return task -> Thread.ofPlatform().daemon().name(name).start(task);
  }

  // ---- reading

  @Override
  public LoadedActor load(ActorId actor) {
    return beginLife(actor, life -> readActor(actor, life));
  }

  @Override
  public long beginLife(ActorId actor, long lastTurn) {
    return beginLife(actor, life -> {
      life.location().resumeAt(life, lastTurn);
      return life.number();
    });
  }

  /** Begins a life and calls a function with it. If the function throws, the life is ended. */
  private <T> T beginLife(ActorId actor, Function<ActorLocation.ActorLife, T> use) {
    checkOpen();
    var life = index.beginLife(actor);
    boolean hasBegun = false;
    try {
      await(life.earlierTurnsDone(), actor);
      var result = use.apply(life);
      hasBegun = true;
      return result;
    } finally {
      if (!hasBegun) endLife(actor, life.number());
    }
  }

  private LoadedActor readActor(ActorId actor, ActorLocation.ActorLife life) {
    var location = life.location();
    var bodies = index.withStablePositions(() -> {
      var turnBodies = new ArrayList<byte[]>();
      for (long position : location.positions())
        turnBodies.add(readBody(actor, (int) (position >> Integer.SIZE), (int) position));
      return turnBodies;
    });
    var loaded = new LoadedActor(life.number(), location.lastTurn(), bodies, location.pendingIds());
    location.onLoaded(life);
    return loaded;
  }

  @Override
  public void endLife(ActorId actor, long life) {
    index.endLife(actor, life);
  }

  void checkOpen() {
    if (logWriter.isEnded()) throw new StoreClosedException(this + " is closed");
  }

  private static void await(CompletableFuture<Void> earlierTurns, ActorId actor) {
    try {
      earlierTurns.get();
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw new CancellationException(actor + " was interrupted while it waited for turns of its previous life");
    } catch (ExecutionException impossible) {
      throw new AssertionError(impossible);
    }
  }

  private byte[] readBody(ActorId actor, int segment, int offset) {
    return readRecord(actor, segment, offset, record -> record.actor().equals(actor)).body();
  }

  private LogRecord readRecord(Object owner, int segment, int offset, Predicate<LogRecord> expected) {
    String fileName = Segment.nameOf(segment);
    try {
      var record = readRecord(fileName, offset);
      if (record != null && expected.test(record)) return record;
    } catch (IOException failure) {
      throw new StoreReadException(owner + " cannot be read from " + this + ": " + Lines.thrown(failure), failure);
    }
    throw new StoreDamagedException(this + ": " + fileName + " is damaged at " + offset + ", where a turn of " + owner
        + ", or a message for it, was. Other actors are not affected; restore the file from a backup");
  }

  /** Returns the actor of the turn at a position. Throws if this actor has another fingerprint. */
  private ActorId resolveActor(ActorFingerprint fingerprint, long position) {
    return readRecord("an actor", (int) (position >> Integer.SIZE), (int) position,
        record -> index.computeFingerprint(record.actor()).equals(fingerprint)).actor();
  }

  /** Reads the record at an offset of a segment. Returns null if it is damaged. */
  private LogRecord readRecord(String fileName, int offset) throws IOException {
    var bytes = ByteBuffer.allocate(FIRST_READ_BYTES);
    disk.read(fileName, offset, bytes);
    int length = bytes.flip().remaining() < Integer.BYTES ? -1 : bytes.getInt();
    if (length < 0 || length > LogWriter.MAX_RECORD_BYTES) return null;
    if (length > bytes.remaining()) {
      bytes = ByteBuffer.allocate(length);
      disk.read(fileName, offset + Integer.BYTES, bytes);
      bytes.flip();
    }
    return bytes.remaining() < length ? null : LogRecord.readChecked(bytes.slice(bytes.position(), length));
  }

  // ---- pending messages

  @Override
  public List<PendingMessage> pending(ActorId actor, Instant until, int maxMessages) {
    checkOpen();
    return index.withStablePositions(
        () -> index.expandedActor(actor).map(location -> location.pending(until, maxMessages)).orElse(List.of())
            .stream().map(messageLocation -> readMessage(actor, messageLocation)).toList());
  }

  private PendingMessage readMessage(ActorId actor, ActorLocation.MessageLocation location) {
    var sent = readRecord(actor, location.segment(), location.offset(),
        record -> record.outbox().size() > location.index() && record.outbox().get(location.index()).to().equals(actor))
        .outbox()
        .get(location.index());
    return new PendingMessage(actor, sent.id(), sent.due(), sent.body());
  }

  @Override
  public Optional<Instant> dueTime(ActorId actor, String id) {
    checkOpen();
    Objects.requireNonNull(id, "id");
    return index.expandedActor(actor).flatMap(location -> location.dueTime(id));
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
        for (var message : location.pending(Instant.MAX, Integer.MAX_VALUE))
          reader.accept(location.actor(), message.due());
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
    var history = new LogHistory(this, disk, index, log, id, kind, HistoryPosition.of(after, kind), histories);
    histories.add(history);
    return history;
  }

  /** Waits until all turns that were reported as stored before this call are on disk. */
  void sync() {
    try {
      logWriter.syncFuture().join();
    } catch (CompletionException failure) {
      throw failure.getCause() instanceof StoreException storeFailure ? storeFailure : failure;
    }
  }

  private void wakeHistories() {
    for (var history : histories) history.wake();
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

  private CompletableFuture<Void> add(Turn turn, boolean isSnapshot) {
    var bytes = LogRecord.bytes(turn, isSnapshot);
    checkSize(bytes, "a turn of ", turn.actor());
    if (preallocator.isFull() && turn.number() == 1 && !isSnapshot && hasNoPending(turn.actor()))
      return refuse(preallocator.refusal("the first turn of " + turn.actor() + " is not stored"));
    var life = index.beginTurn(turn, isSnapshot);
    if (life == null) return refuse(new StaleLifeException(turn.actor(), turn.number()));
    return add(new PendingRecord.PendingTurnRecord(this, bytes, life, turn, isSnapshot), turn.actor());
  }

  private boolean hasNoPending(ActorId actor) {
    return index.expandedActor(actor).map(location -> location.pendingCount() == 0).orElse(true);
  }

  @Override
  public CompletionStage<Boolean> enqueue(PendingMessage message, int maxPending) {
    var bytes = LogRecord.bytes(message, clock.millis());
    checkSize(bytes, "a message for ", message.to());
    if (preallocator.isFull()) return refuse(preallocator.refusal("a message for " + message.to() + " is not stored"));
    var location = index.reserveMessage(message, maxPending);
    if (location == null) return CompletableFuture.completedFuture(false);
    return add(new PendingRecord.PendingMessageRecord(this, bytes, location, message), message.to());
  }

  private void checkSize(ByteBuffer bytes, String subject, ActorId actor) {
    if (bytes.remaining() > logWriter.maxRecordSize()) throw new IllegalArgumentException(
        subject + actor + " takes " + bytes.remaining() + " bytes; " + this + " takes at most "
            + logWriter.maxRecordSize());
  }

  private <T> CompletableFuture<T> refuse(StoreException failure) {
    countRefusal();
    return CompletableFuture.failedFuture(failure);
  }

  private <T> CompletableFuture<T> add(PendingRecord<T> entry, ActorId actor) {
    boolean isAdded = false;
    try {
      logWriter.add(entry);
      isAdded = true;
      return entry;
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw new CancellationException(
          "interrupted while a turn of " + actor + ", or a message for it, waited for capacity in " + this);
    } finally {
      if (!isAdded) {
        entry.finishOnce();
        compact(entry.location);
      }
    }
  }

  void compact(ActorLocation location) {
    index.compact(location);
  }

  void addPending(PendingMessage message, int segment, int offset, int messageIndex) {
    var due = Instant.ofEpochMilli(message.due().toEpochMilli()); // in milliseconds, as in the log
    index.addRecord(message.to(), message.id(), new ActorLocation.MessageLocation(due, segment, offset, messageIndex));
  }

  /**
   * If the turn belongs to the actor of a view, stores in the index the offset up to which the view
   * has read.
   */
  void setViewOffset(Turn turn) {
    index.viewOffsets().setOffset(turn.actor(), turn.body());
  }

  /**
   * Called when a stored record could not be added to the index. Stops compaction, because it would
   * delete live records that the index lacks.
   */
  void distrustIndex() {
    compaction.stop();
  }

  void countTurn() {
    turns.increment();
  }

  void countRefusal() {
    refusals.increment();
  }

  // ---- health, backup and closing

  @Override
  public Health health() {
    var counts = index.counts();
    var syncs = log.syncs();
    return new Health(turns.sum(), refusals.sum(), logWriter.pendingEntries(), counts.actors(),
        counts.pendingMessages(), counts.dueMessages(), counts.parkedMessages(), disk.bytes(),
        new Syncs(syncs.count(), syncs.total(), syncs.last()), preallocator.isFull(), log.isBroken(),
        log.tornFiles());
  }

  @Override
  public void backup(StorageDirectory to) {
    Objects.requireNonNull(to, "to");
    checkOpen();
    try {
      compaction.withStableFiles(() -> {
        sync();
        LogBackup.run(disk, to, id, log.sealedSegments(), log.lastSynced(), this::checkOpen);
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
    if (isClosed.getAndSet(true)) return;
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
