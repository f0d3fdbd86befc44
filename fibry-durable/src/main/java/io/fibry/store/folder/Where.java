package io.fibry.store.folder;

import java.util.Arrays;
import java.util.concurrent.CompletableFuture;

/**
 * Where the log has what is to be read of an actor: its last whole turn, and those after it. All
 * under this object's monitor.
 */
final class Where {
  private static final long[] NOWHERE = {};

  /** From one load to the next. */
  static final class Life {
    private final long number;
    private boolean over; // a turn was refused, so those behind it are
    private int underWay;
    private CompletableFuture<Void> idle; // null: nobody waits

    private Life(long number) {
      this.number = number;
    }

    long number() {
      return number;
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

    synchronized void leave() {
      underWay--;
      if (underWay == 0 && idle != null) idle.complete(null);
    }

    /** Done when none of its turns is on its way. */
    synchronized CompletableFuture<Void> idle() {
      idle = new CompletableFuture<>();
      if (underWay == 0) idle.complete(null);
      return idle;
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

  /** Null: none in this process yet. */
  synchronized Life life() {
    return life;
  }

  /** The next life. None enters the one before any more. */
  synchronized Life begin() {
    life = new Life(life == null ? 1 : life.number + 1);
    return life;
  }

  /** A turn is on its way, until it leaves. Null: its life is not the newest. */
  synchronized Life enter(long number) {
    if (life == null || life.number != number) return null;
    life.enter();
    return life;
  }
}
