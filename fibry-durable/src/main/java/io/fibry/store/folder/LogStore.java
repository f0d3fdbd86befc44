package io.fibry.store.folder;

import io.fibry.store.StoreClosedException;
import io.fibry.store.StoreDamagedException;
import io.fibry.store.StoreException;
import io.fibry.store.StoreOutdatedException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;

/** A log, and an index in memory of where the turns of each actor are. */
final class LogStore extends FolderStore {
  private static final int GLANCE = 1024; // read at once: most records are smaller

  /** A turn or a snapshot on its way. */
  private final class UnderWay extends CompletableFuture<Void> implements Journal.Entry {
    private final Where where;
    private final Where.Life life;
    private final Turn turn;
    private final boolean snapshot;
    private final ByteBuffer record;
    private boolean left; // its life; under this object's monitor

    UnderWay(Where where, Where.Life life, Turn turn, boolean snapshot, ByteBuffer record) {
      this.where = where;
      this.life = life;
      this.turn = turn;
      this.snapshot = snapshot;
      this.record = record;
    }

    @Override
    public ByteBuffer record() {
      return record;
    }

    @Override
    public StoreException refusal() {
      return life.isOver() ? new StoreOutdatedException(turn) : null;
    }

    @Override
    public void stored(int segment, int offset) {
      where.add(turn.number(), turn.whole(), segment, offset);
      if (!snapshot) turns.increment();
      leave();
      complete(null);
    }

    /** Once: an Error may strike when the journal has it already. */
    void leave() {
      synchronized (this) {
        if (left) return;
        left = true;
      }
      life.leave();
    }

    @Override
    public void refused(StoreException why) {
      if (!snapshot) life.end();
      completeExceptionally(why);
      leave(); // last: the actor reads its state again when all have been told
    }
  }

  private final Disk disk;
  private final ConcurrentHashMap<Id, Where> actors = new ConcurrentHashMap<>();
  private final LongAdder turns = new LongAdder();
  private final AtomicBoolean closed = new AtomicBoolean();
  private Spares spares;
  private Log log;
  private Journal journal;

  private LogStore(Disk disk) {
    this.disk = disk;
  }

  static LogStore open(Disk disk, Options options) throws IOException {
    var store = new LogStore(disk);
    long id = Identity.open(disk, options.segment());
    store.spares = new Spares(disk, code -> Thread.ofPlatform().daemon().name("fibry-segments").start(code),
        options.segment(), System::nanoTime);
    store.log = Log.open(disk, id, store.spares, store::read);
    store.journal = Journal.open(store.log, System::currentTimeMillis, TimeUnit.NANOSECONDS.convert(options.pause()),
        options.room());
    return store;
  }

  private void read(Frame.Place place, Frame frame) {
    int offset = place.offset() + Frame.RECORDS;
    for (var record : frame.records()) {
      var stored = Stored.of(record);
      where(stored.actor()).add(stored.number(), stored.whole(), place.segment(), offset);
      offset += Integer.BYTES + record.remaining();
    }
  }

  private Where where(Id actor) {
    return actors.computeIfAbsent(actor, none -> new Where());
  }

  // ---- reading

  @Override
  public Loaded load(Id actor) {
    if (journal.isEnded()) throw new StoreClosedException(this + " is closed");
    var where = where(actor);
    var life = where.begin();
    await(life.before(), actor);
    var bodies = new ArrayList<byte[]>();
    for (long place : where.places()) bodies.add(body(actor, (int) (place >> Integer.SIZE), (int) place));
    return new Loaded(life.number(), where.last(), bodies);
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
    String name = Segment.nameOf(segment);
    try {
      var stored = stored(name, offset);
      if (stored != null && stored.actor().equals(actor)) return stored.body();
    } catch (IOException failure) {
      throw new UncheckedIOException(actor + " cannot be read from " + this + ": " + failure, failure);
    }
    throw new StoreDamagedException(this + ": " + name + " is damaged at " + offset + ", where a turn of " + actor
        + " was. Other actors are not concerned; put back a copy of the file");
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
    if (record.remaining() > journal.most()) throw new IllegalArgumentException("a turn of " + turn.actor() + " takes "
        + record.remaining() + " bytes; " + this + " takes at most " + journal.most());
    var where = where(turn.actor());
    var life = where.enter(turn.life());
    if (life == null) return CompletableFuture.failedFuture(new StoreOutdatedException(turn));
    var entry = new UnderWay(where, life, turn, snapshot, record);
    boolean added = false;
    try {
      journal.add(entry);
      added = true;
      return entry;
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw new CancellationException(turn.actor() + " was interrupted while it waited for room in " + this);
    } finally {
      if (!added) entry.leave();
    }
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
