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
  private static final int LEAST = 16; // slots of one

  private final IndexStripe[] stripes = new IndexStripe[STRIPES];
  private final FingerprintHasher fingerprints = FingerprintHasher.random();
  private final AtomicLong lives = new AtomicLong(); // so far, of all actors: an old one is known as such for ever
  private final ReentrantReadWriteLock moving = new ReentrantReadWriteLock(); // from a look here to the read of a file
  private final Map<String, Duration> ages = new ConcurrentHashMap<>(); // by kind: older turns are no history
  private final ViewOffsets readings = new ViewOffsets();
  private final Supplier<String> store; // its name
  private final ActorResolver keys;
  private final InstantSource clock;
  private long moves; // so far; under `moving`

  /** Says which actor has a fingerprint, by the place of one of its turns. */
  interface ActorResolver {
    Store.ActorId read(Fingerprint print, long place);
  }

  LogIndex(Supplier<String> store, ActorResolver keys, InstantSource clock) {
    this.store = store;
    this.keys = keys;
    this.clock = clock;
    // they grow by a quarter, each at another time
    for (int i = 0; i < STRIPES; i++) stripes[i] = new IndexStripe(LEAST + LEAST * i / (4 * STRIPES));
  }

  private IndexStripe stripe(Fingerprint print) {
    return stripes[stripeOf(print.high())];
  }

  /** @param high of a fingerprint */
  static int stripeOf(long high) {
    return (int) (high >>> 56);
  }

  // ---- actors

  /** Uses an actor, which is awake until {@link #rest}. */
  <T> T wake(Store.ActorId actor, Function<ActorLocation, T> use) {
    var print = fingerprints.of(actor);
    return stripe(print).wake(print, actor, use);
  }

  /** Returns an empty value if no message waits for the actor. */
  Optional<ActorLocation> awake(Store.ActorId actor) {
    var print = fingerprints.of(actor);
    return Optional.ofNullable(stripe(print).awake(print));
  }

  /** The next life of an actor. */
  ActorLocation.ActorLife begin(Store.ActorId actor) {
    return wake(actor, where -> where.begin(lives.incrementAndGet()));
  }

  void end(Store.ActorId actor, long life) {
    awake(actor).ifPresent(where -> {
      where.end(life);
      rest(where);
    });
  }

  /** Returns null if the turn belongs to a life that is over, or is not the next turn. */
  ActorLocation.ActorLife enter(Store.Turn turn, boolean snapshot) {
    return wake(turn.actor(), where -> {
      var life = snapshot ? where.enterSnapshot(turn.life()) : where.enter(turn.life(), turn.number());
      if (life == null) rest(where);
      return life;
    });
  }

  /** Returns null if too many messages wait. */
  ActorLocation reserve(Store.PendingMessage message, int most) {
    return wake(message.to(), where -> {
      if (where.reserve(most, message.due())) return where;
      rest(where);
      return null;
    });
  }

  /** It takes less room, if nobody uses it. */
  void rest(ActorLocation where) {
    if (where.isAtRest()) stripe(where.print()).rest(where);
  }

  void forEachAwake(Consumer<ActorLocation> reader) {
    for (var stripe : stripes) stripe.awake().forEach(reader);
  }

  /**
   * Visits each actor once of which a turn is stored, or for which a message waits. An actor is in
   * one stripe, which knows all of its actors at one moment.
   */
  void forEach(Consumer<Store.ActorId> reader) {
    for (var stripe : stripes) whileNothingMoves(() -> actors(stripe.known())).forEach(reader);
  }

  private List<Store.ActorId> actors(IndexStripe.KnownActors known) {
    var all = new ArrayList<>(known.awake());
    for (var one : known.resting()) all.add(keys.read(one.print(), one.place()));
    return all;
  }

  /** Actors of which something is stored, and messages that wait for one, or for a human. */
  record IndexCounts(long actors, long waiting, long aside) {}

  IndexCounts figures() {
    long[] sums = new long[3];
    for (var stripe : stripes) stripe.count(sums);
    return new IndexCounts(sums[0], sums[1], sums[2]);
  }

  // ---- opening

  void print(RecordHeader record, long[] into) {
    record.print(fingerprints, into);
  }

  Fingerprint print(Store.ActorId actor) {
    return fingerprints.of(actor);
  }

  /** A turn that has done and sends nothing. Returns false if the actor must be awake for this. */
  boolean put(long high, long low, long number, LogRecord.RecordType type, long place) {
    return stripes[stripeOf(high)].read(high, low, number, type, place);
  }

  /** Notes the place of a record of any actor. */
  void put(Fingerprint print, long number, LogRecord.RecordType type, long place) {
    var known = stripe(print).awake(print);
    var actor = known == null ? keys.read(print, place) : known.actor();
    rest(stripe(print).wake(print, actor, where -> {
      where.add(number, type, (int) (place >> Integer.SIZE), (int) place);
      return where;
    }));
  }

  void put(LogRecord stored, int segment, int offset) {
    if (stored.type() != LogRecord.RecordType.MESSAGE) rest(wake(stored.actor(), where -> {
      where.add(stored.number(), stored.type(), segment, offset);
      where.done(stored.done());
      return where;
    }));
    int index = 0;
    for (var sent : stored.sends())
      put(sent.to(), sent.id(), new ActorLocation.MessageLocation(sent.due(), segment, offset, index++));
  }

  /** A message waits. */
  void put(Store.ActorId actor, String id, ActorLocation.MessageLocation message) {
    wake(actor, where -> {
      where.put(id, message);
      return where;
    });
  }

  /** After all was read. */
  void check() {
    forEachAwake(where -> {
      if (where.hasGap()) throw new StoreDamagedException(
          store.get() + " is damaged: a turn of " + where.actor()
              + " is missing in front of others. Nothing was changed; "
              + "put back a copy of the folder, or save what is whole by FolderStore.salvage");
    });
  }

  // ---- history

  void forget(String kind, Duration age) {
    ages.put(kind, age);
  }

  /** How far views have read. */
  ViewOffsets readings() {
    return readings;
  }

  /**
   * It means something yet: it is read when its actor is, or it is history. If the actor has ended
   * since, it is history for the views that have not passed it.
   *
   * @param unread whether views of a kind may still have to read it
   */
  boolean isAlive(LogRecord stored, long place, Predicate<String> unread) {
    String kind = stored.actor().kind();
    var age = ages.get(kind);
    boolean old = age != null && stored.millis() < clock.instant().minus(age).toEpochMilli();
    var print = fingerprints.of(stored.actor());
    return stripe(print).has(print, stored.number(), stored.type(), place, old)
        || !old && stored.type() != LogRecord.RecordType.SNAPSHOT && unread.test(kind);
  }

  // ---- moving

  /** Reads by places that it looks up. */
  <T> T whileNothingMoves(Supplier<T> reader) {
    moving.readLock().lock();
    try {
      return reader.get();
    } finally {
      moving.readLock().unlock();
    }
  }

  /** While nothing moves: another number means that files are others now. */
  long moves() {
    return moves;
  }

  interface FileChange<X extends Exception> {
    void run() throws X;
  }

  /** The files change, and then the places. */
  <X extends Exception> void move(FileChange<X> files, Relocations places) throws X {
    moving.writeLock().lock();
    try {
      files.run();
      moves++;
      for (var stripe : stripes) stripe.move(places);
    } finally {
      moving.writeLock().unlock();
    }
  }
}
