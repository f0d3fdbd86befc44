package io.fibry.store.folder.index;

import io.fibry.store.Store;
import io.fibry.store.StoreDamagedException;
import io.fibry.store.folder.log.LogRecord;
import io.fibry.store.spi.StoreBackend;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;

/** The positions of all live (still needed) log records, in memory, by actor. Thread-safe. */
public final class LogIndex {
  static final int STRIPES = 256;
  private static final int MIN_SLOTS = 16; // of a stripe

  private final IndexStripe[] stripes = new IndexStripe[STRIPES];
  private final FingerprintHasher hasher = FingerprintHasher.random();
  // Number of the last life of any actor, so that no number is used twice.
  private final AtomicLong lastLife = new AtomicLong();
  // Readers hold the read lock from the lookup of a position until the file was read.
  private final ReentrantReadWriteLock relocationLock = new ReentrantReadWriteLock();
  // How long turns are kept as history, by kind.
  private final Map<String, Duration> retentions = new ConcurrentHashMap<>();
  private final ViewOffsets viewOffsets = new ViewOffsets();
  private final Supplier<String> storeName;
  private final ActorResolver actorResolver;
  private final InstantSource clock;
  private long relocationCount; // how often segments were replaced; guarded by `relocationLock`

  /** Finds the actor that has a fingerprint, by the position of one of the actor's turns. */
  public interface ActorResolver {
    Store.ActorId resolve(ActorFingerprint fingerprint, long position);
  }

  public LogIndex(Supplier<String> storeName, ActorResolver actorResolver, InstantSource clock) {
    this.storeName = storeName;
    this.actorResolver = actorResolver;
    this.clock = clock;
    // Stripes get different sizes, so that they do not all grow at the same time.
    for (int i = 0; i < STRIPES; i++) stripes[i] = new IndexStripe(MIN_SLOTS + MIN_SLOTS * i / (4 * STRIPES));
  }

  private IndexStripe stripe(ActorFingerprint fingerprint) {
    return stripes[stripeOf(fingerprint.high())];
  }

  /** @param high the high half of a fingerprint */
  static int stripeOf(long high) {
    return (int) (high >>> 56);
  }

  // ---- actors

  /** Calls a function with an actor, which is expanded from then on until {@link #compact}. */
  public <T> T withActor(Store.ActorId actor, Function<ActorLocation, T> use) {
    var fingerprint = hasher.of(actor);
    return stripe(fingerprint).expand(fingerprint, actor, use);
  }

  /** Returns an actor; empty if it is compact or unknown, and thus has no pending message. */
  public Optional<ActorLocation> expandedActor(Store.ActorId actor) {
    var fingerprint = hasher.of(actor);
    return Optional.ofNullable(stripe(fingerprint).expanded(fingerprint));
  }

  /** Begins the next life of an actor. */
  public ActorLocation.ActorLife beginLife(Store.ActorId actor) {
    return withActor(actor, location -> location.beginLife(lastLife.incrementAndGet()));
  }

  public void endLife(Store.ActorId actor, long life) {
    expandedActor(actor).ifPresent(location -> {
      location.endLife(life);
      compact(location);
    });
  }

  /**
   * Counts a turn or a snapshot as being stored. Returns its life, or null if this life is over, or
   * another turn must come first.
   */
  public ActorLocation.ActorLife beginTurn(StoreBackend.Turn turn, boolean isSnapshot) {
    return withActor(turn.actor(), location -> {
      var life = isSnapshot ? location.beginSnapshot(turn.life()) : location.beginTurn(turn.life(), turn.number());
      if (life == null) compact(location);
      return life;
    });
  }

  /**
   * Counts a message as being stored. Returns its receiver, or null if {@code maxPending} messages
   * that are due at the same time or earlier are already pending or being stored.
   */
  public ActorLocation reserveMessage(StoreBackend.PendingMessage message, int maxPending) {
    return withActor(message.to(), location -> {
      if (location.reserve(maxPending, message.due())) return location;
      compact(location);
      return null;
    });
  }

  /** Makes an actor compact, if it is not in use and has no pending message. */
  public void compact(ActorLocation location) {
    if (location.isCompactable()) stripe(location.fingerprint()).compact(location);
  }

  public void forEachExpanded(Consumer<ActorLocation> reader) {
    for (var stripe : stripes) stripe.expanded().forEach(reader);
  }

  /**
   * Visits once each actor that has a stored turn or a pending message. Each stripe is read at one
   * moment.
   */
  public void forEach(Consumer<Store.ActorId> reader) {
    for (var stripe : stripes) withStablePositions(() -> actors(stripe.knownActors())).forEach(reader);
  }

  private List<Store.ActorId> actors(IndexStripe.KnownActors known) {
    var actors = new ArrayList<>(known.expanded());
    for (var compactActor : known.compact())
      actors.add(actorResolver.resolve(compactActor.fingerprint(), compactActor.position()));
    return actors;
  }

  /** The numbers of actors with stored turns, and of pending, parked and due messages. */
  public record IndexCounts(long actors, long pendingMessages, long parkedMessages, long dueMessages) {}

  public IndexCounts counts() {
    long[] sums = new long[4];
    var now = clock.instant();
    for (var stripe : stripes) stripe.addCounts(sums, now);
    return new IndexCounts(sums[0], sums[1], sums[2], sums[3]);
  }

  // ---- opening

  void computeFingerprint(RecordHeader record, long[] into) {
    record.computeFingerprint(hasher, into);
  }

  public ActorFingerprint computeFingerprint(Store.ActorId actor) {
    return hasher.of(actor);
  }

  /**
   * Adds a turn of a compact actor. If the actor must be expanded for it, adds nothing, and returns
   * false.
   */
  boolean addRecord(long high, long low, long number, LogRecord.RecordType type, long position) {
    return stripes[stripeOf(high)].addTurn(high, low, number, type, position);
  }

  /** Adds the position of a turn or snapshot, and expands the actor for it. */
  void addRecord(ActorFingerprint fingerprint, long number, LogRecord.RecordType type, long position) {
    var expanded = stripe(fingerprint).expanded(fingerprint);
    var actor = expanded == null ? actorResolver.resolve(fingerprint, position) : expanded.actor();
    compact(stripe(fingerprint).expand(fingerprint, actor, location -> {
      location.add(number, type, (int) (position >> Integer.SIZE), (int) position);
      return location;
    }));
  }

  public void addRecord(LogRecord record, int segment, int offset) {
    if (record.type() != LogRecord.RecordType.MESSAGE) compact(withActor(record.actor(), location -> {
      location.add(record.number(), record.type(), segment, offset);
      location.removeHandled(record.handledIds());
      return location;
    }));
    int index = 0;
    for (var sent : record.outbox())
      addRecord(sent.to(), sent.id(), new ActorLocation.MessageLocation(sent.due(), segment, offset, index++));
  }

  /** Adds a pending message. */
  public void addRecord(Store.ActorId actor, String id, ActorLocation.MessageLocation message) {
    withActor(actor, location -> {
      location.putPending(id, message);
      return location;
    });
  }

  /** Called after all records were added. Throws if a turn is missing that a load would read. */
  public void check() {
    forEachExpanded(location -> {
      if (location.hasGap()) throw new StoreDamagedException(
          storeName.get() + " is damaged: a turn of " + location.actor()
              + " is missing, and later turns exist. Nothing was changed; "
              + "restore the folder from a backup, or save its intact part with FolderStore.salvage");
    });
  }

  // ---- history

  public void setRetention(String kind, Duration age) {
    retentions.put(kind, age);
  }

  /** Returns the offsets up to which views have read. */
  public ViewOffsets viewOffsets() {
    return viewOffsets;
  }

  /**
   * Returns whether a turn or a snapshot is still needed: it is read when its actor is loaded, or
   * it is history. If a later turn has erased the actor, the turn is history only for views that
   * have not read it.
   *
   * @param isUnread tests for a kind whether one of its views may still have to read the record
   */
  public boolean isLive(LogRecord record, long position, Predicate<String> isUnread) {
    String kind = record.actor().kind();
    var retention = retentions.get(kind);
    boolean isOld = retention != null && record.millis() < clock.instant().minus(retention).toEpochMilli();
    var fingerprint = hasher.of(record.actor());
    return stripe(fingerprint).isLive(fingerprint, record.number(), record.type(), position, isOld)
        || !isOld && record.type() != LogRecord.RecordType.SNAPSHOT && isUnread.test(kind);
  }

  // ---- relocation

  /**
   * Calls a function that looks up positions and reads the files there. No record is moved during
   * the call.
   */
  public <T> T withStablePositions(Supplier<T> reader) {
    relocationLock.readLock().lock();
    try {
      return reader.get();
    } finally {
      relocationLock.readLock().unlock();
    }
  }

  /**
   * Returns how often segments were replaced. Called inside {@link #withStablePositions}. If the
   * number differs from that of an earlier call, positions may have changed.
   */
  public long relocationCount() {
    return relocationCount;
  }

  public interface FileChange<X extends Exception> {
    void run() throws X;
  }

  /**
   * Changes files, and then the positions in the index. No other thread reads by positions during
   * this call.
   */
  public <X extends Exception> void relocate(FileChange<X> change, Relocations relocations) throws X {
    relocationLock.writeLock().lock();
    try {
      change.run();
      relocationCount++;
      for (var stripe : stripes) stripe.move(relocations);
    } finally {
      relocationLock.writeLock().unlock();
    }
  }
}
