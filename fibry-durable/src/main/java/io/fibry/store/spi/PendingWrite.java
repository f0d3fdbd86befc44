package io.fibry.store.spi;

import java.util.concurrent.CompletableFuture;

/**
 * An entry that a store is storing, and the future of its outcome. A store may add entries of other
 * types.
 *
 * @param <T> the type of the outcome
 */
public abstract class PendingWrite<T> extends CompletableFuture<T> {
  private static final int OVERHEAD_BYTES = 128; // of an entry or message, besides its body

  private final int size;

  /**
   * Makes an entry.
   *
   * @param bodyBytes the size of its bodies in bytes
   */
  protected PendingWrite(long bodyBytes) {
    size = (int) Math.min(Integer.MAX_VALUE, OVERHEAD_BYTES + bodyBytes);
  }

  /** {@return the number of bytes that the entry adds to the pending bytes of the store} */
  public final int size() {
    return size;
  }

  /** A turn of an actor. */
  public static final class TurnWrite extends PendingWrite<Void> {
    private final StoreBackend.Turn turn;
    private final boolean isEnd;

    /**
     * Makes the entry of a turn.
     *
     * @param turn the turn
     * @param isEnd whether the turn erases the actor; views may have to read the turns before it
     */
    public TurnWrite(StoreBackend.Turn turn, boolean isEnd) {
      super(turn.body().length + turn.outbox().stream().mapToLong(message -> OVERHEAD_BYTES + message.body().length)
          .sum());
      this.turn = turn;
      this.isEnd = isEnd;
    }

    /** {@return the turn} */
    public StoreBackend.Turn turn() {
      return turn;
    }

    /** {@return whether the turn erases the actor} */
    public boolean isEnd() {
      return isEnd;
    }
  }

  /** A snapshot. It may get lost: the actor is then loaded from earlier turns. */
  public static final class SnapshotWrite extends PendingWrite<Void> {
    private final StoreBackend.Turn turn;

    /**
     * Makes the entry of a snapshot.
     *
     * @param turn the full-state turn
     */
    public SnapshotWrite(StoreBackend.Turn turn) {
      super(turn.body().length);
      this.turn = turn;
    }

    /** {@return the full-state turn} */
    public StoreBackend.Turn turn() {
      return turn;
    }
  }

  /** A message, which is refused if too many are pending. */
  public static class MessageWrite extends PendingWrite<Boolean> {
    private final StoreBackend.PendingMessage message;
    private final int maxPending;

    /**
     * Makes the entry of a message.
     *
     * @param message the message
     * @param maxPending the maximum number of pending messages of the receiver
     */
    public MessageWrite(StoreBackend.PendingMessage message, int maxPending) {
      super(message.body().length);
      this.message = message;
      this.maxPending = maxPending;
    }

    /** {@return the message} */
    public final StoreBackend.PendingMessage message() {
      return message;
    }

    /** {@return the maximum number of pending messages of the receiver} */
    public final int maxPending() {
      return maxPending;
    }
  }
}
