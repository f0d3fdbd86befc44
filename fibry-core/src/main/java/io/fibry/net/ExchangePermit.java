package io.fibry.net;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Lets an exchange be at work. An exchange that waits for its client is not at work, or slow
 * clients would keep out others. Belongs to the thread of its exchange.
 */
final class ExchangePermit {
  private static final long PAUSE = 500_000; // ns between two attempts to be at work again

  /**
   * Counts the exchanges of a server. At most {@code limit} are at work, and at most twice as many
   * are admitted, so what clients send slowly has a bound, too. Only exchanges at work keep another
   * from work: were a stalled upload counted among them, an upload that has come would wait for the
   * limit of the stalled one. Both counts lie in one word, because a count that is raised and taken
   * back would have other exchanges refused meanwhile.
   */
  static final class PermitPool {
    private static final long AT_WORK = 1; // the low half
    private static final long ADMITTED = 1L << Integer.SIZE; // the high half

    private final int limit;
    private final AtomicLong counts = new AtomicLong();
    private final AtomicLong returning = new AtomicLong(); // wait to be at work again; newcomers let them go first

    PermitPool(int limit) {
      this.limit = limit;
    }

    /** Admits an exchange, which is at work. Returns null if there are too many. */
    ExchangePermit permit() {
      return returning.get() == 0 && take(ADMITTED + AT_WORK) ? new ExchangePermit(this) : null;
    }

    private boolean take(long added) {
      for (long now = counts.get(); atWork(now) < limit && admitted(now + added) <= 2L * limit; now = counts.get())
        if (counts.compareAndSet(now, now + added)) return true;
      return false;
    }

    private void give(long taken) {
      counts.addAndGet(-taken);
    }

    int atWork() {
      return atWork(counts.get());
    }

    int admitted() {
      return admitted(counts.get());
    }

    private static int atWork(long counts) {
      return (int) counts;
    }

    private static int admitted(long counts) {
      return (int) (counts >> Integer.SIZE);
    }
  }

  private final PermitPool places;
  private boolean atWork = true;
  private boolean admitted = true;

  private ExchangePermit(PermitPool places) {
    this.places = places;
  }

  /** The exchange waits for its client. */
  void suspend() {
    if (!atWork) return;
    atWork = false;
    places.give(PermitPool.AT_WORK);
  }

  /**
   * The client has sent, or read. Waits to be at work again, unless the thread is interrupted: then
   * the exchange is about to end. It tries again and again, since a queue could be left half
   * changed where the handler has used up its stack.
   */
  void resume() {
    if (atWork || !admitted) return;
    atWork = places.take(PermitPool.AT_WORK);
    if (atWork) return;
    places.returning.incrementAndGet();
    try {
      while (!(atWork = places.take(PermitPool.AT_WORK)) && !Thread.currentThread().isInterrupted())
        LockSupport.parkNanos(PAUSE);
    } finally {
      places.returning.decrementAndGet();
    }
  }

  /** The exchange is over, or its client has all of the response. */
  void leave() {
    if (!admitted) return;
    admitted = false;
    places.give(atWork ? PermitPool.ADMITTED + PermitPool.AT_WORK : PermitPool.ADMITTED);
    atWork = false;
  }
}
