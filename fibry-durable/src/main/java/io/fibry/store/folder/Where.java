package io.fibry.store.folder;

import java.util.Arrays;
import java.util.concurrent.CompletableFuture;

/**
 * Where the log has what is to be read of an actor: its last whole turn, and those after it. Its
 * fields, and those of a life, are under the object's own monitor.
 */
final class Where {
  private static final long[] NOWHERE = {};

  /** From one load to the next. */
  static final class Life {
    private final long number;
    private final CompletableFuture<Void> before; // done when no turn of earlier lives is on its way
    private final CompletableFuture<Void> idle = new CompletableFuture<>(); // of this one and those before
    private boolean over; // a turn was refused, so those behind it are
    private boolean followed; // none enters any more
    private int underWay;

    private Life(long number, CompletableFuture<Void> before) {
      this.number = number;
      this.before = before;
    }

    long number() {
      return number;
    }

    CompletableFuture<Void> before() {
      return before;
    }

    synchronized boolean isOver() {
      return over;
    }

    synchronized void end() {
      over = true;
    }

    private synchronized void enter() {
      underWay++;
    }

    void leave() {
      if (left()) before.thenRun(() -> idle.complete(null));
    }

    private synchronized boolean left() {
      return --underWay == 0 && followed;
    }

    /** None enters any more. */
    private CompletableFuture<Void> follow() {
      if (isIdle()) before.thenRun(() -> idle.complete(null));
      return idle;
    }

    private synchronized boolean isIdle() {
      followed = true;
      return underWay == 0;
    }
  }

  private long[] places = NOWHERE; // segment and offset of each; the array may be longer
  private int count;
  private long last; // the number of the last turn
  private Life life; // null: none in this process yet

  synchronized long last() {
    return last;
  }

  synchronized long[] places() {
    return Arrays.copyOf(places, count);
  }

  synchronized void add(long number, boolean whole, int segment, int offset) {
    if (whole) count = 0;
    if (count == places.length) places = Arrays.copyOf(places, Math.max(1, 2 * count));
    places[count++] = (long) segment << Integer.SIZE | offset;
    last = number;
  }

  /** The next life. None enters the one before any more. */
  synchronized Life begin() {
    life = life == null ? new Life(1, CompletableFuture.completedFuture(null))
        : new Life(life.number + 1, life.follow());
    return life;
  }

  /** A turn is on its way, until it leaves. Null: its life is not the newest. */
  synchronized Life enter(long number) {
    if (life == null || life.number != number) return null;
    life.enter();
    return life;
  }
}
