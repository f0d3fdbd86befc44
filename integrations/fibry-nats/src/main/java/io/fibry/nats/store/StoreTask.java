package io.fibry.nats.store;

import io.fibry.store.Store;
import java.util.concurrent.CompletableFuture;

/** A task of a store for one actor, and the future of its outcome. */
public abstract sealed class StoreTask<T> extends CompletableFuture<T> {
  private static final int OVERHEAD_BYTES = 128; // of a task or message, besides its body

  private final int size;

  private StoreTask(long bodyBytes) {
    size = (int) Math.min(Integer.MAX_VALUE, OVERHEAD_BYTES + bodyBytes);
  }

  /** Returns the bytes that the task takes of the store's budget. */
  public int size() {
    return size;
  }

  /** Stores a turn. */
  public static final class AppendTask extends StoreTask<Void> {
    private final Store.Turn turn;
    private final boolean isEnd;

    /** @param isEnd whether the turn ends the actor */
    public AppendTask(Store.Turn turn, boolean isEnd) {
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
  }

  /** Stores a snapshot. The snapshot may get lost: the actor is then loaded from earlier turns. */
  public static final class SnapshotTask extends StoreTask<Void> {
    private final Store.Turn turn;

    public SnapshotTask(Store.Turn turn) {
      super(turn.body().length);
      this.turn = turn;
    }

    Store.Turn turn() {
      return turn;
    }
  }

  /** Begins a life, and reads the stored state. */
  public static final class LoadTask extends StoreTask<Store.LoadedActor> {
    public LoadTask() {
      super(0);
    }
  }

  /** Begins a life whose first turn follows the turn {@code last}. */
  public static final class BeginLifeTask extends StoreTask<Long> {
    private final long last;

    public BeginLifeTask(long last) {
      super(0);
      this.last = last;
    }

    long last() {
      return last;
    }
  }

  /** Ends a life. */
  public static final class EndLifeTask extends StoreTask<Void> {
    private final long life;

    public EndLifeTask(long life) {
      super(0);
      this.life = life;
    }

    long life() {
      return life;
    }
  }

  /** Stores a message for the actor, unless too many are pending. */
  public static final class EnqueueTask extends StoreTask<Boolean> {
    private final Store.PendingMessage message;
    private final int maxPending;
    private final Thread senderThread = Thread.currentThread();

    public EnqueueTask(Store.PendingMessage message, int maxPending) {
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

    /** Returns the thread that sent the message. */
    Thread senderThread() {
      return senderThread;
    }
  }
}
