package io.fibry.store.folder;

import io.fibry.store.Store;
import io.fibry.store.StoreDamagedException;
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

/** Where the log has what is alive: in memory, for each actor. Thread-safe. */
final class LogIndex {
  static final int STRIPES = 256;
  private static final int MIN_SLOTS = 16; // slots of one

  private final IndexStripe[] stripes = new IndexStripe[STRIPES];
  private final FingerprintHasher fingerprints = FingerprintHasher.random();
  private final AtomicLong lastLife = new AtomicLong(); // so far, of all actors: an old one is known as such for ever
  // From a look here to the read of a file.
  private final ReentrantReadWriteLock relocationLock = new ReentrantReadWriteLock();
  private final Map<String, Duration> retentions = new ConcurrentHashMap<>(); // by kind: older turns are no history
  private final ViewOffsets viewOffsets = new ViewOffsets();
  private final Supplier<String> storeName; // its name
  private final ActorResolver actorResolver;
  private final InstantSource clock;
  private long relocationCount; // so far; under `relocationLock`

  /** Says which actor has a fingerprint, by the place of one of its turns. */
  interface ActorResolver {
    Store.ActorId resolve(Fingerprint print, long place);
  }

  LogIndex(Supplier<String> storeName, ActorResolver actorResolver, InstantSource clock) {
    this.storeName = storeName;
    this.actorResolver = actorResolver;
    this.clock = clock;
    // they grow by a quarter, each at another time
    for (int i = 0; i < STRIPES; i++) stripes[i] = new IndexStripe(MIN_SLOTS + MIN_SLOTS * i / (4 * STRIPES));
  }

  private IndexStripe stripe(Fingerprint print) {
    return stripes[stripeOf(print.high())];
  }

  /** @param high of a fingerprint */
  static int stripeOf(long high) {
    return (int) (high >>> 56);
  }

  // ---- actors

  /** Uses an actor, which is awake until {@link #compact}. */
  <T> T withActor(Store.ActorId actor, Function<ActorLocation, T> use) {
    var print = fingerprints.of(actor);
    return stripe(print).expand(print, actor, use);
  }

  /** Returns an empty value if no message waits for the actor. */
  Optional<ActorLocation> expandedActor(Store.ActorId actor) {
    var print = fingerprints.of(actor);
    return Optional.ofNullable(stripe(print).expanded(print));
  }

  /** The next life of an actor. */
  ActorLocation.ActorLife beginLife(Store.ActorId actor) {
    return withActor(actor, location -> location.beginLife(lastLife.incrementAndGet()));
  }

  void endLife(Store.ActorId actor, long life) {
    expandedActor(actor).ifPresent(location -> {
      location.endLife(life);
      compact(location);
    });
  }

  /** Returns null if the turn belongs to a life that is over, or is not the next turn. */
  ActorLocation.ActorLife enterTurn(Store.Turn turn, boolean snapshot) {
    return withActor(turn.actor(), location -> {
      var life = snapshot ? location.enterSnapshot(turn.life()) : location.enter(turn.life(), turn.number());
      if (life == null) compact(location);
      return life;
    });
  }

  /** Returns null if too many messages wait. */
  ActorLocation reserveMessage(Store.PendingMessage message, int max) {
    return withActor(message.to(), location -> {
      if (location.reserve(max, message.due())) return location;
      compact(location);
      return null;
    });
  }

  /** It takes less room, if nobody uses it. */
  void compact(ActorLocation location) {
    if (location.isCompactable()) stripe(location.print()).compact(location);
  }

  void forEachExpanded(Consumer<ActorLocation> reader) {
    for (var stripe : stripes) stripe.expanded().forEach(reader);
  }

  /**
   * Visits each actor once of which a turn is stored, or for which a message waits. An actor is in
   * one stripe, which knows all of its actors at one moment.
   */
  void forEach(Consumer<Store.ActorId> reader) {
    for (var stripe : stripes) withStablePlaces(() -> actors(stripe.knownActors())).forEach(reader);
  }

  private List<Store.ActorId> actors(IndexStripe.KnownActors known) {
    var all = new ArrayList<>(known.expanded());
    for (var one : known.compact()) all.add(actorResolver.resolve(one.print(), one.place()));
    return all;
  }

  /** Actors of which something is stored, and messages that wait for one, or for a human. */
  record IndexCounts(long actors, long pendingMessages, long parkedMessages) {}

  IndexCounts counts() {
    long[] sums = new long[3];
    for (var stripe : stripes) stripe.count(sums);
    return new IndexCounts(sums[0], sums[1], sums[2]);
  }

  // ---- opening

  void computeFingerprint(RecordHeader record, long[] into) {
    record.computeFingerprint(fingerprints, into);
  }

  Fingerprint computeFingerprint(Store.ActorId actor) {
    return fingerprints.of(actor);
  }

  /** A turn that has done and sends nothing. Returns false if the actor must be awake for this. */
  boolean addRecord(long high, long low, long number, LogRecord.RecordType type, long place) {
    return stripes[stripeOf(high)].read(high, low, number, type, place);
  }

  /** Notes the place of a record of any actor. */
  void addRecord(Fingerprint print, long number, LogRecord.RecordType type, long place) {
    var known = stripe(print).expanded(print);
    var actor = known == null ? actorResolver.resolve(print, place) : known.actor();
    compact(stripe(print).expand(print, actor, location -> {
      location.add(number, type, (int) (place >> Integer.SIZE), (int) place);
      return location;
    }));
  }

  void addRecord(LogRecord stored, int segment, int offset) {
    if (stored.type() != LogRecord.RecordType.MESSAGE) compact(withActor(stored.actor(), location -> {
      location.add(stored.number(), stored.type(), segment, offset);
      location.removeHandled(stored.handledIds());
      return location;
    }));
    int index = 0;
    for (var sent : stored.outbox())
      addRecord(sent.to(), sent.id(), new ActorLocation.MessageLocation(sent.due(), segment, offset, index++));
  }

  /** A message waits. */
  void addRecord(Store.ActorId actor, String id, ActorLocation.MessageLocation message) {
    withActor(actor, location -> {
      location.put(id, message);
      return location;
    });
  }

  /** After all was read. */
  void check() {
    forEachExpanded(location -> {
      if (location.hasGap()) throw new StoreDamagedException(
          storeName.get() + " is damaged: a turn of " + location.actor()
              + " is missing in front of others. Nothing was changed; "
              + "put back a copy of the folder, or save what is whole by FolderStore.salvage");
    });
  }

  // ---- history

  void setRetention(String kind, Duration age) {
    retentions.put(kind, age);
  }

  /** How far views have read. */
  ViewOffsets viewOffsets() {
    return viewOffsets;
  }

  /**
   * It means something yet: it is read when its actor is, or it is history. If the actor has ended
   * since, it is history for the views that have not passed it.
   *
   * @param unread whether views of a kind may still have to read it
   */
  boolean isAlive(LogRecord stored, long place, Predicate<String> unread) {
    String kind = stored.actor().kind();
    var age = retentions.get(kind);
    boolean old = age != null && stored.millis() < clock.instant().minus(age).toEpochMilli();
    var print = fingerprints.of(stored.actor());
    return stripe(print).has(print, stored.number(), stored.type(), place, old)
        || !old && stored.type() != LogRecord.RecordType.SNAPSHOT && unread.test(kind);
  }

  // ---- moving

  /** Reads by places that it looks up. */
  <T> T withStablePlaces(Supplier<T> reader) {
    relocationLock.readLock().lock();
    try {
      return reader.get();
    } finally {
      relocationLock.readLock().unlock();
    }
  }

  /** While nothing moves: another number means that files are others now. */
  long relocationCount() {
    return relocationCount;
  }

  interface FileChange<X extends Exception> {
    void run() throws X;
  }

  /** The files change, and then the places. */
  <X extends Exception> void relocate(FileChange<X> files, Relocations places) throws X {
    relocationLock.writeLock().lock();
    try {
      files.run();
      relocationCount++;
      for (var stripe : stripes) stripe.move(places);
    } finally {
      relocationLock.writeLock().unlock();
    }
  }
}
