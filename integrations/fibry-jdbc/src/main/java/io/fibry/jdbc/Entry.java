package io.fibry.jdbc;

import io.fibry.store.StaleLifeException;
import io.fibry.store.Store;
import java.util.concurrent.CompletableFuture;

/** An entry that is being stored; as a future, it is done when it is stored. */
abstract sealed class Entry<T> extends CompletableFuture<T> {
  private static final int FIXED = 128; // bytes that it takes besides bodies

  private final int size;

  private Entry(long bodies) {
    size = (int) Math.min(Integer.MAX_VALUE, FIXED + bodies);
  }

  /** In bytes. */
  int size() {
    return size;
  }

  /** Called by the storing thread when the commit is done. */
  abstract void tell(Commit commit);

  /** A turn of an actor. */
  static final class OfTurn extends Entry<Void> {
    private final Store.Turn turn;
    private final boolean ends;

    /** @param ends the actor, so that views may still have to read the turns before */
    OfTurn(Store.Turn turn, boolean ends) {
      super(turn.body().length + turn.outbox().stream().mapToLong(one -> FIXED + one.body().length).sum());
      this.turn = turn;
      this.ends = ends;
    }

    Store.Turn turn() {
      return turn;
    }

    boolean ends() {
      return ends;
    }

    @Override
    void tell(Commit commit) {
      if (commit.hasStored(this)) complete(null);
      else completeExceptionally(new StaleLifeException(turn));
    }
  }

  /** A snapshot: it may be lost. */
  static final class OfSnapshot extends Entry<Void> {
    private final Store.Turn turn;

    OfSnapshot(Store.Turn turn) {
      super(turn.body().length);
      this.turn = turn;
    }

    Store.Turn turn() {
      return turn;
    }

    @Override
    void tell(Commit commit) {
      complete(null);
    }
  }

  /** A message that is accepted, unless too many wait. */
  static final class OfMessage extends Entry<Boolean> {
    private final Store.PendingMessage message;
    private final int most;

    OfMessage(Store.PendingMessage message, int most) {
      super(message.body().length);
      this.message = message;
      this.most = most;
    }

    Store.PendingMessage message() {
      return message;
    }

    int most() {
      return most;
    }

    @Override
    void tell(Commit commit) {
      complete(commit.hasStored(message));
    }
  }

  /** An entry without content: it is done when all earlier entries were stored or refused. */
  static final class Barrier extends Entry<Void> {
    Barrier() {
      super(0);
    }

    @Override
    void tell(Commit commit) {
      complete(null);
    }
  }
}
