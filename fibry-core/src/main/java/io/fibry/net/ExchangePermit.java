package io.fibry.net;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Lets an exchange be at work. One that waits for its client is not at work, or slow clients would
 * keep out others. Belongs to the thread of its exchange.
 */
final class ExchangePermit {
  private static final long PAUSE = 500_000; // ns between two looks for a place at work

  /**
   * The places of a server. As many exchanges may wait for their clients as may run; further
   * exchanges count as running while they wait. So what clients send slowly has a bound, too.
   */
  static final class Places {
    private final int limit;
    private final AtomicInteger atWork = new AtomicInteger();
    private final AtomicInteger waiting = new AtomicInteger(); // for their clients
    private final AtomicInteger coming = new AtomicInteger(); // back to work; newcomers let them go first

    Places(int limit) {
      this.limit = limit;
    }

    /** Returns null if all places are taken. */
    ExchangePermit permit() {
      return coming.get() == 0 && take(atWork, limit) ? new ExchangePermit(this) : null;
    }

    /**
     * A compare-and-set, because an increment that is undone would have other exchanges refused
     * meanwhile.
     */
    static boolean take(AtomicInteger places, int limit) {
      for (int now = places.get(); now < limit; now = places.get())
        if (places.compareAndSet(now, now + 1)) return true;
      return false;
    }

    int atWork() {
      return atWork.get();
    }
  }

  private final Places places;
  private AtomicInteger in; // the counter that includes this exchange, or null

  private ExchangePermit(Places places) {
    this.places = places;
    this.in = places.atWork;
  }

  /** The exchange waits for its client. */
  void suspend() {
    if (in == places.atWork && Places.take(places.waiting, places.limit)) move(places.waiting);
  }

  /**
   * The client has sent, or read. Waits for a place at work, unless the thread is interrupted: then
   * the exchange is about to end. It looks again and again, since a queue could be left half
   * changed where the handler has used up its stack.
   */
  void resume() {
    if (in != places.waiting) return;
    boolean back = Places.take(places.atWork, places.limit);
    if (!back) {
      places.coming.incrementAndGet();
      try {
        while (!(back = Places.take(places.atWork, places.limit)) && !Thread.currentThread().isInterrupted())
          LockSupport.parkNanos(PAUSE);
      } finally {
        places.coming.decrementAndGet();
      }
    }
    move(back ? places.atWork : null);
  }

  /** The exchange is not at work any more. */
  void leave() {
    move(null);
  }

  private void move(AtomicInteger to) {
    var from = in;
    in = to;
    if (from != null) from.decrementAndGet();
  }
}
