package io.fibry.store.folder;

import io.fibry.store.Store;
import io.fibry.store.StoreDamagedException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.BiConsumer;
import java.util.function.Supplier;

/** Where the log has what is alive: in memory, for each actor. Thread-safe. */
final class Index {
  private final ConcurrentHashMap<Store.Id, Where> actors = new ConcurrentHashMap<>();
  private final ReentrantReadWriteLock moving = new ReentrantReadWriteLock(); // from a look here to the read of a file
  private final Map<String, Duration> ages = new ConcurrentHashMap<>(); // by kind: older turns are no history
  private final Supplier<String> store; // its name
  private final InstantSource clock;
  private long moves; // so far; under `moving`

  Index(Supplier<String> store, InstantSource clock) {
    this.store = store;
    this.clock = clock;
  }

  Where of(Store.Id actor) {
    return actors.computeIfAbsent(actor, none -> new Where());
  }

  Optional<Where> find(Store.Id actor) {
    return Optional.ofNullable(actors.get(actor));
  }

  void forEach(BiConsumer<Store.Id, Where> reader) {
    actors.forEach(reader);
  }

  /** Actors of which something is stored, and messages that wait for one, or for a human. */
  record Figures(long actors, long waiting, long aside) {}

  Figures figures() {
    long[] sums = new long[3];
    for (var where : actors.values()) {
      long aside = where.due(Store.Waiting.NEVER);
      if (where.last() > 0) sums[0]++;
      sums[1] += where.count() - aside;
      sums[2] += aside;
    }
    return new Figures(sums[0], sums[1], sums[2]);
  }

  // ---- opening

  void read(Frame.Place place, Frame frame) {
    int offset = place.offset() + Frame.RECORDS;
    for (var record : frame.records()) {
      read(Stored.of(record), place.segment(), offset);
      offset = Frame.next(offset, record);
    }
  }

  private void read(Stored stored, int segment, int offset) {
    if (stored.type() != Stored.Type.MESSAGE) {
      var where = of(stored.actor());
      where.add(stored.number(), stored.type(), segment, offset);
      where.done(stored.done());
    }
    int index = 0;
    for (var sent : stored.sends())
      of(sent.to()).put(sent.id(), new Where.Waits(sent.due(), segment, offset, index++));
  }

  /** After all was read. */
  void check() {
    actors.forEach((actor, where) -> {
      if (where.hasGap())
        throw new StoreDamagedException(
            store.get() + " is damaged: a turn of " + actor + " is missing in front of others");
    });
  }

  // ---- history

  void forget(String kind, Duration age) {
    ages.put(kind, age);
  }

  /** It means something yet: it is read when its actor is, or it is history. */
  boolean isAlive(Stored stored, long place) {
    var age = ages.get(stored.actor().kind());
    boolean old = age != null && stored.millis() < clock.instant().minus(age).toEpochMilli();
    return find(stored.actor()).filter(where -> where.has(stored.number(), stored.type(), place, old)).isPresent();
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

  interface Change<X extends Exception> {
    void run() throws X;
  }

  /** The files change, and then the places. */
  <X extends Exception> void move(Change<X> files, Map<Store.Id, Moves> moves) throws X {
    moving.writeLock().lock();
    try {
      files.run();
      this.moves++;
      moves.forEach((actor, moved) -> of(actor).move(moved.turns(), moved.messages()));
    } finally {
      moving.writeLock().unlock();
    }
  }

  /** From where to where, for an actor. */
  record Moves(Map<Long, Long> turns, Map<String, Where.Moved> messages) {}
}
