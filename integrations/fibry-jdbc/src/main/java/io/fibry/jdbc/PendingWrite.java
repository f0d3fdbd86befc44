package io.fibry.jdbc;

import io.fibry.store.StaleLifeException;
import io.fibry.store.Store;
import java.util.concurrent.CompletableFuture;

/** An entry that is being stored; as a future, it is done when it is stored. */
abstract sealed class PendingWrite<T> extends CompletableFuture<T> {
  private static final int OVERHEAD_BYTES = 128; // bytes that it takes besides bodies

  private final int size;

  private PendingWrite(long bodies) {
    size = (int) Math.min(Integer.MAX_VALUE, OVERHEAD_BYTES + bodies);
  }

  /** In bytes. */
  int size() {
    return size;
  }

  /** Called by the storing thread when the commit is done. */
  abstract void completeFrom(WriteBatch batch);

  /** A turn of an actor. */
  static final class TurnWrite extends PendingWrite<Void> {
    private final Store.Turn turn;
    private final boolean isEnd;

    /** @param ends the actor, so that views may still have to read the turns before */
    TurnWrite(Store.Turn turn, boolean ends) {
      super(turn.body().length + turn.outbox().stream().mapToLong(one -> OVERHEAD_BYTES + one.body().length).sum());
      this.turn = turn;
      this.isEnd = ends;
    }

    Store.Turn turn() {
      return turn;
    }

    boolean isEnd() {
      return isEnd;
    }

    @Override
    void completeFrom(WriteBatch batch) {
      if (batch.hasStored(this)) complete(null);
      else completeExceptionally(new StaleLifeException(turn));
    }
  }

  /** A snapshot: it may be lost. */
  static final class SnapshotWrite extends PendingWrite<Void> {
    private final Store.Turn turn;

    SnapshotWrite(Store.Turn turn) {
      super(turn.body().length);
      this.turn = turn;
    }

    Store.Turn turn() {
      return turn;
    }

    @Override
    void completeFrom(WriteBatch batch) {
      complete(null);
    }
  }

  /** A message that is accepted, unless too many wait. */
  static final class MessageWrite extends PendingWrite<Boolean> {
    private final Store.PendingMessage message;
    private final int maxPending;

    MessageWrite(Store.PendingMessage message, int max) {
      super(message.body().length);
      this.message = message;
      this.maxPending = max;
    }

    Store.PendingMessage message() {
      return message;
    }

    int maxPending() {
      return maxPending;
    }

    @Override
    void completeFrom(WriteBatch batch) {
      complete(batch.hasStored(message));
    }
  }

  /** An entry without content: it is done when all earlier entries were stored or refused. */
  static final class WriteBarrier extends PendingWrite<Void> {
    WriteBarrier() {
      super(0);
    }

    @Override
    void completeFrom(WriteBatch batch) {
      complete(null);
    }
  }
}
