package io.fibry.jdbc;

import io.fibry.store.StaleLifeException;
import io.fibry.store.Store;
import java.util.concurrent.CompletableFuture;

/** An entry to be stored, and the future of its outcome. */
abstract sealed class PendingWrite<T> extends CompletableFuture<T> {
  private static final int OVERHEAD_BYTES = 128; // of an entry or message, besides its body

  private final int size;

  private PendingWrite(long bodyBytes) {
    size = (int) Math.min(Integer.MAX_VALUE, OVERHEAD_BYTES + bodyBytes);
  }

  /** Returns the number of bytes that the entry adds to the pending bytes. */
  int size() {
    return size;
  }

  /** Completes the future. Called by the writing thread after the commit of the batch. */
  abstract void completeFrom(WriteBatch batch);

  /** A turn of an actor. */
  static final class TurnWrite extends PendingWrite<Void> {
    private final Store.Turn turn;
    private final boolean isEnd;

    /** @param isEnd whether the turn ends the actor; views may have to read the turns before it */
    TurnWrite(Store.Turn turn, boolean isEnd) {
      super(turn.body().length + turn.outbox().stream().mapToLong(message -> OVERHEAD_BYTES + message.body().length)
          .sum());
      this.turn = turn;
      this.isEnd = isEnd;
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

  /** A snapshot. It may get lost: the actor is then loaded from earlier turns. */
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

  /** A message, which is refused if too many are pending. */
  static final class MessageWrite extends PendingWrite<Boolean> {
    private final Store.PendingMessage message;
    private final int maxPending;

    MessageWrite(Store.PendingMessage message, int maxPending) {
      super(message.body().length);
      this.message = message;
      this.maxPending = maxPending;
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
