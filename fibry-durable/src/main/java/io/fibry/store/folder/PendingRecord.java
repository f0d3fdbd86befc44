package io.fibry.store.folder;

import io.fibry.store.StaleLifeException;
import io.fibry.store.Store;
import io.fibry.store.StoreException;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;

/** A record that is being stored; as a future, it is done when the record is on disk. */
abstract sealed class PendingRecord<T> extends CompletableFuture<T> implements LogWriter.LogEntry {
  final LogStore store;
  final ActorLocation where;
  private final ByteBuffer record;
  private boolean left; // under this object's monitor

  PendingRecord(LogStore store, ActorLocation where, ByteBuffer record) {
    this.store = store;
    this.where = where;
    this.record = record;
  }

  @Override
  public final ByteBuffer record() {
    return record;
  }

  @Override
  public final void stored(int segment, int offset) {
    try {
      note(segment, offset);
    } catch (Throwable failure) { // of memory
      store.distrustIndex();
      throw failure;
    }
    leave();
    completeWell();
    store.rest(where); // last: without memory it throws
  }

  /** In the index. */
  abstract void note(int segment, int offset);

  abstract void completeWell();

  /** Once: an Error may strike when the journal has it already. */
  final void leave() {
    synchronized (this) {
      if (left) return;
      left = true;
    }
    left();
  }

  /** Called when the record is not being stored any more. */
  abstract void left();

  /** A turn, or a snapshot. */
  static final class PendingTurnRecord extends PendingRecord<Void> {
    private final ActorLocation.ActorLife life;
    private final Store.Turn turn;
    private final boolean snapshot;

    PendingTurnRecord(LogStore store, ByteBuffer record, ActorLocation.ActorLife life, Store.Turn turn,
        boolean snapshot) {
      super(store, life.where(), record);
      this.life = life;
      this.turn = turn;
      this.snapshot = snapshot;
    }

    @Override
    public StoreException refusal() {
      return life.isOver() ? new StaleLifeException(turn) : null;
    }

    @Override
    void note(int segment, int offset) {
      where.add(turn.number(), LogRecord.typeOf(turn, snapshot), segment, offset);
      where.done(turn.handledIds());
      store.noteView(turn);
      for (int i = 0; i < turn.outbox().size(); i++) store.put(turn.outbox().get(i), segment, offset, i);
      if (!snapshot) store.count();
    }

    @Override
    void completeWell() {
      complete(null);
    }

    @Override
    public void refused(StoreException why) {
      if (!snapshot) {
        life.end();
        store.countRefusal();
      }
      completeExceptionally(why);
      leave(); // now: the actor reads its state again when all have been told
      store.rest(where);
    }

    @Override
    void left() {
      life.leave();
    }
  }

  /** A message that is accepted. */
  static final class PendingMessageRecord extends PendingRecord<Boolean> {
    private final Store.PendingMessage message;

    PendingMessageRecord(LogStore store, ByteBuffer record, ActorLocation where, Store.PendingMessage message) {
      super(store, where, record);
      this.message = message;
    }

    @Override
    public StoreException refusal() {
      return null;
    }

    @Override
    void note(int segment, int offset) {
      store.put(message, segment, offset, 0);
    }

    @Override
    void completeWell() {
      complete(true);
    }

    @Override
    public void refused(StoreException why) {
      store.countRefusal();
      leave();
      completeExceptionally(why);
      store.rest(where);
    }

    @Override
    void left() {
      where.arrived();
    }
  }
}
