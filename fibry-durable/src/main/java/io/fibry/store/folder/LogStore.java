package io.fibry.store.folder;

import io.fibry.store.StoreClosedException;
import io.fibry.store.StoreDamagedException;
import io.fibry.store.StoreOutdatedException;
import io.fibry.store.StoreReadException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;
import java.util.function.Predicate;

/** A log, and an index in memory of where the turns of each actor are. */
final class LogStore extends FolderStore {
  private static final int GLANCE = 1024; // read at once: most records are smaller

  private final Disk disk;
  private final ConcurrentHashMap<Id, Where> actors = new ConcurrentHashMap<>();
  private final LongAdder turns = new LongAdder();
  private final AtomicBoolean closed = new AtomicBoolean();
  private final InstantSource clock;
  private Spares spares;
  private Log log;
  private Journal journal;

  private LogStore(Disk disk, InstantSource clock) {
    this.disk = disk;
    this.clock = clock;
  }

  static LogStore open(Disk disk, Options options) throws IOException {
    var store = new LogStore(disk, options.clock());
    long id = Identity.open(disk, options.segment());
    store.spares = new Spares(disk, code -> Thread.ofPlatform().daemon().name("fibry-segments").start(code),
        options.segment(), System::nanoTime);
    store.log = Log.open(disk, id, store.spares, store::read);
    store.journal = Journal.open(store.log, options.clock()::millis, TimeUnit.NANOSECONDS.convert(options.pause()),
        options.room());
    return store;
  }

  private void read(Frame.Place place, Frame frame) {
    int offset = place.offset() + Frame.RECORDS;
    for (var record : frame.records()) {
      read(Stored.of(record), place.segment(), offset);
      offset += Integer.BYTES + record.remaining();
    }
  }

  private void read(Stored stored, int segment, int offset) {
    if (stored.type() != Stored.Type.MESSAGE) {
      var where = where(stored.actor());
      if (!where.add(stored.number(), stored.type() != Stored.Type.TURN, segment, offset))
        throw new StoreDamagedException(this + ": " + Segment.nameOf(segment) + " has turn " + stored.number() + " of "
            + stored.actor() + " at " + offset + ", but the one before is missing");
      where.done(stored.done());
    }
    int index = 0;
    for (var sent : stored.sends())
      where(sent.to()).put(sent.id(), new Where.Waits(sent.due(), segment, offset, index++));
  }

  private Where where(Id actor) {
    return actors.computeIfAbsent(actor, none -> new Where());
  }

  // ---- reading

  @Override
  public Loaded load(Id actor) {
    checkOpen();
    var where = where(actor);
    var life = where.begin();
    await(life.before(), actor);
    var bodies = new ArrayList<byte[]>();
    for (long place : where.places()) bodies.add(body(actor, (int) (place >> Integer.SIZE), (int) place));
    var loaded = new Loaded(life.number(), where.last(), bodies, where.waiting());
    where.hasRead(life);
    return loaded;
  }

  private void checkOpen() {
    if (journal.isEnded()) throw new StoreClosedException(this + " is closed");
  }

  private static void await(CompletableFuture<Void> before, Id actor) {
    try {
      before.get();
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw new CancellationException(actor + " was interrupted while it waited for turns of its life before");
    } catch (ExecutionException never) {
      throw new AssertionError(never);
    }
  }

  private byte[] body(Id actor, int segment, int offset) {
    return stored(actor, segment, offset, stored -> stored.actor().equals(actor)).body();
  }

  private Stored stored(Id actor, int segment, int offset, Predicate<Stored> expected) {
    String name = Segment.nameOf(segment);
    try {
      var stored = stored(name, offset);
      if (stored != null && expected.test(stored)) return stored;
    } catch (IOException failure) {
      throw new StoreReadException(actor + " cannot be read from " + this + ": " + failure, failure);
    }
    throw new StoreDamagedException(this + ": " + name + " is damaged at " + offset + ", where a turn of " + actor
        + ", or a message for it, was. Other actors are not concerned; put back a copy of the file");
  }

  /** Null: it is damaged. */
  private Stored stored(String name, int offset) throws IOException {
    var record = ByteBuffer.allocate(GLANCE);
    disk.read(name, offset, record);
    int length = record.flip().remaining() < Integer.BYTES ? -1 : record.getInt();
    if (length < 0 || length > Journal.MOST_RECORD) return null;
    if (length > record.remaining()) {
      record = ByteBuffer.allocate(length);
      disk.read(name, offset + Integer.BYTES, record);
      record.flip();
    }
    return record.remaining() < length ? null : Stored.checked(record.slice(record.position(), length));
  }

  // ---- what waits

  @Override
  public List<Waiting> waiting(Id actor, Instant until, int most) {
    checkOpen();
    var where = actors.get(actor);
    return where == null ? List.of() : where.waiting(until, most).stream().map(one -> message(actor, one)).toList();
  }

  private Waiting message(Id actor, Where.Waits place) {
    var sent = stored(actor, place.segment(), place.offset(),
        stored -> stored.sends().size() > place.index() && stored.sends().get(place.index()).to().equals(actor)).sends()
        .get(place.index());
    return new Waiting(actor, sent.id(), sent.due(), sent.body());
  }

  @Override
  public Optional<Instant> due(Id actor, String id) {
    checkOpen();
    var where = actors.get(actor);
    return where == null ? Optional.empty() : where.due(id);
  }

  @Override
  public void waiting(String kind, BiConsumer<Id, Instant> reader) {
    checkOpen();
    actors.forEach((actor, where) -> {
      if (actor.kind().equals(kind))
        for (var one : where.waiting(Instant.MAX, Integer.MAX_VALUE)) reader.accept(actor, one.due());
    });
  }

  @Override
  public InstantSource clock() {
    return clock;
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
    var record = Stored.bytes(turn, snapshot);
    checkSize(record, "a turn of ", turn.actor());
    var where = where(turn.actor());
    var life = snapshot ? where.enterSnapshot(turn.life()) : where.enter(turn.life(), turn.number());
    if (life == null) return CompletableFuture.failedFuture(new StoreOutdatedException(turn));
    return add(new UnderWay.OfTurn(this, record, where, life, turn, snapshot), turn.actor());
  }

  @Override
  public CompletionStage<Boolean> accept(Waiting message, int most) {
    var record = Stored.bytes(message, clock.instant());
    checkSize(record, "a message for ", message.to());
    var where = where(message.to());
    if (!where.reserve(most)) return CompletableFuture.completedFuture(false);
    return add(new UnderWay.OfMessage(this, record, where, message), message.to());
  }

  private void checkSize(ByteBuffer record, String what, Id actor) {
    if (record.remaining() > journal.most()) throw new IllegalArgumentException(
        what + actor + " takes " + record.remaining() + " bytes; " + this + " takes at most " + journal.most());
  }

  private <T> CompletableFuture<T> add(UnderWay<T> entry, Id actor) {
    boolean added = false;
    try {
      journal.add(entry);
      added = true;
      return entry;
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw new CancellationException(actor + " was interrupted while it waited for room in " + this);
    } finally {
      if (!added) entry.leave();
    }
  }

  void put(Waiting message, int segment, int offset, int index) {
    where(message.to()).put(message.id(), new Where.Waits(message.due(), segment, offset, index));
  }

  void count() {
    turns.increment();
  }

  // ---- the whole

  @Override
  public Health health() {
    return new Health(turns.sum(), actors.values().stream().filter(where -> where.last() > 0).count(),
        journal.waiting(), spares.isFull(), log.isBroken(), log.torn());
  }

  @Override
  public void close() {
    journal.close();
    spares.close();
    if (closed.getAndSet(true)) return;
    try {
      disk.close();
    } catch (IOException failure) {
      throw new UncheckedIOException(this + " could not be closed: " + failure, failure);
    }
  }

  @Override
  public String toString() {
    return "the store in " + disk;
  }
}
