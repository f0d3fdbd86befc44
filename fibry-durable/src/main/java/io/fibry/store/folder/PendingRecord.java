package io.fibry.store.folder;

import io.fibry.store.StaleLifeException;
import io.fibry.store.StoreException;
import io.fibry.store.folder.index.ActorLocation;
import io.fibry.store.folder.log.LogRecord;
import io.fibry.store.folder.log.LogWriter;
import io.fibry.store.spi.StoreBackend;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;

/** A record that is being stored, as a future that completes when it is stored or refused. */
abstract sealed class PendingRecord<T> extends CompletableFuture<T> implements LogWriter.LogEntry {
  final LogStore store;
  final ActorLocation location;
  private final ByteBuffer record;
  private boolean hasFinished; // whether `onFinished` was called; guarded by this object's monitor

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
    } catch (Throwable failure) { // most likely an OutOfMemoryError
      store.distrustIndex();
      throw failure;
    }
    finishOnce();
    completeStored();
    store.compact(location); // last, because it throws if memory is short
  }

  /** Adds the record to the index. */
  abstract void addToIndex(int segment, int offset);

  /** Completes this future. */
  abstract void completeStored();

  /**
   * Calls {@link #onFinished} unless it was called. The sender and the journal may both call this
   * method: an Error may strike the sender after it has given the record to the journal.
   */
  final void finishOnce() {
    synchronized (this) {
      if (hasFinished) return;
      hasFinished = true;
    }
    onFinished();
  }

  /** Called when the record is not being stored any more. */
  abstract void onFinished();

  /** A turn or a snapshot that is being stored. */
  static final class PendingTurnRecord extends PendingRecord<Void> {
    private final ActorLocation.ActorLife life;
    private final StoreBackend.Turn turn;
    private final boolean isSnapshot;

    PendingTurnRecord(LogStore store, ByteBuffer record, ActorLocation.ActorLife life, StoreBackend.Turn turn,
        boolean isSnapshot) {
      super(store, life.location(), record);
      this.life = life;
      this.turn = turn;
      this.isSnapshot = isSnapshot;
    }

    @Override
    public StoreException refusal() {
      return life.wasRefused() ? new StaleLifeException(turn.actor(), turn.number()) : null;
    }

    @Override
    void addToIndex(int segment, int offset) {
      location.add(turn.number(), LogRecord.typeOf(turn, isSnapshot), segment, offset);
      location.removeHandled(turn.handledIds());
      store.setViewOffset(turn);
      for (int i = 0; i < turn.outbox().size(); i++) store.addPending(turn.outbox().get(i), segment, offset, i);
      if (!isSnapshot) store.countTurn();
    }

    @Override
    void completeStored() {
      complete(null);
    }

    @Override
    public void onRefused(StoreException failure) {
      if (!isSnapshot) {
        life.markRefused();
        store.countRefusal();
      }
      completeExceptionally(failure);
      finishOnce(); // after the future has completed, because `finishOnce` may let the next life load the actor
      store.compact(location);
    }

    @Override
    void onFinished() {
      life.onTurnDone();
    }
  }

  /** A message that is being stored. */
  static final class PendingMessageRecord extends PendingRecord<Boolean> {
    private final StoreBackend.PendingMessage message;

    PendingMessageRecord(LogStore store, ByteBuffer record, ActorLocation location,
        StoreBackend.PendingMessage message) {
      super(store, location, record);
      this.message = message;
    }

    @Override
    public StoreException refusal() {
      return null;
    }

    @Override
    void addToIndex(int segment, int offset) {
      store.addPending(message, segment, offset, 0);
    }

    @Override
    void completeStored() {
      complete(true);
    }

    @Override
    public void onRefused(StoreException failure) {
      store.countRefusal();
      finishOnce();
      completeExceptionally(failure);
      store.compact(location);
    }

    @Override
    void onFinished() {
      location.onMessageDone(message.due());
    }
  }
}
