package io.fibry.nats;

import io.fibry.store.Store;
import java.util.concurrent.CompletableFuture;

/** What a store is to do for one actor; as a future, done when that is done. */
abstract sealed class StoreTask<T> extends CompletableFuture<T> {
  private static final int OVERHEAD_BYTES = 128; // bytes that it takes besides bodies

  private final int size;

  private StoreTask(long bodies) {
    size = (int) Math.min(Integer.MAX_VALUE, OVERHEAD_BYTES + bodies);
  }

  /** In bytes. */
  int size() {
    return size;
  }

  /** Stores a turn. */
  static final class AppendTask extends StoreTask<Void> {
    private final Store.Turn turn;
    private final boolean isEnd;

    /** @param ends the actor */
    AppendTask(Store.Turn turn, boolean ends) {
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
  }

  /** Stores a snapshot: it may be lost. */
  static final class SnapshotTask extends StoreTask<Void> {
    private final Store.Turn turn;

    SnapshotTask(Store.Turn turn) {
      super(turn.body().length);
      this.turn = turn;
    }

    Store.Turn turn() {
      return turn;
    }
  }

  /** Begins a life, and reads what is stored. */
  static final class LoadTask extends StoreTask<Store.LoadedActor> {
    LoadTask() {
      super(0);
    }
  }

  /** Begins a life after another turn. */
  static final class BeginLifeTask extends StoreTask<Long> {
    private final long last;

    BeginLifeTask(long last) {
      super(0);
      this.last = last;
    }

    long last() {
      return last;
    }
  }

  /** Ends a life. */
  static final class EndLifeTask extends StoreTask<Void> {
    private final long life;

    EndLifeTask(long life) {
      super(0);
      this.life = life;
    }

    long life() {
      return life;
    }
  }

  /** Stores a message that is to wait, unless too many do. */
  static final class EnqueueTask extends StoreTask<Boolean> {
    private final Store.PendingMessage message;
    private final int maxPending;
    private final Thread senderThread = Thread.currentThread();

    EnqueueTask(Store.PendingMessage message, int max) {
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

    /** The thread that gave it. */
    Thread senderThread() {
      return senderThread;
    }
  }
}
