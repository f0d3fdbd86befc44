package io.fibry.store.folder;

import io.fibry.store.StaleLifeException;
import io.fibry.store.Store;
import io.fibry.store.StoreException;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;

/** A record that is being stored; as a future, it is done when the record is on disk. */
abstract sealed class PendingRecord<T> extends CompletableFuture<T> implements LogWriter.LogEntry {
  final LogStore store;
  final ActorLocation location;
  private final ByteBuffer record;
  private boolean hasLeft; // under this object's monitor

  PendingRecord(LogStore store, ActorLocation location, ByteBuffer record) {
    this.store = store;
    this.location = location;
    this.record = record;
  }

  @Override
  public final ByteBuffer record() {
    return record;
  }

  @Override
  public final void onStored(int segment, int offset) {
    try {
      addToIndex(segment, offset);
    } catch (Throwable failure) { // of memory
      store.distrustIndex();
      throw failure;
    }
    leaveOnce();
    completeStored();
    store.compact(location); // last: without memory it throws
  }

  /** In the index. */
  abstract void addToIndex(int segment, int offset);

  abstract void completeStored();

  /** Once: an Error may strike when the journal has it already. */
  final void leaveOnce() {
    synchronized (this) {
      if (hasLeft) return;
      hasLeft = true;
    }
    onLeft();
  }

  /** Called when the record is not being stored any more. */
  abstract void onLeft();

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
    void addToIndex(int segment, int offset) {
      location.add(turn.number(), LogRecord.typeOf(turn, snapshot), segment, offset);
      location.removeHandled(turn.handledIds());
      store.noteView(turn);
      for (int i = 0; i < turn.outbox().size(); i++) store.put(turn.outbox().get(i), segment, offset, i);
      if (!snapshot) store.count();
    }

    @Override
    void completeStored() {
      complete(null);
    }

    @Override
    public void onRefused(StoreException why) {
      if (!snapshot) {
        life.endLife();
        store.countRefusal();
      }
      completeExceptionally(why);
      leaveOnce(); // now: the actor reads its state again when all have been told
      store.compact(location);
    }

    @Override
    void onLeft() {
      life.leave();
    }
  }

  /** A message that is accepted. */
  static final class PendingMessageRecord extends PendingRecord<Boolean> {
    private final Store.PendingMessage message;

    PendingMessageRecord(LogStore store, ByteBuffer record, ActorLocation location, Store.PendingMessage message) {
      super(store, location, record);
      this.message = message;
    }

    @Override
    public StoreException refusal() {
      return null;
    }

    @Override
    void addToIndex(int segment, int offset) {
      store.put(message, segment, offset, 0);
    }

    @Override
    void completeStored() {
      complete(true);
    }

    @Override
    public void onRefused(StoreException why) {
      store.countRefusal();
      leaveOnce();
      completeExceptionally(why);
      store.compact(location);
    }

    @Override
    void onLeft() {
      location.onArrived();
    }
  }
}
