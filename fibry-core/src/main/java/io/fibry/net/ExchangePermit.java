package io.fibry.net;

import io.fibry.block.SendStackProbe;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/**
 * Allows an exchange to be at work. An exchange that waits for its client is not at work, because
 * slow clients would keep out others. Used by the thread of its exchange.
 */
final class ExchangePermit {
  private static final long SHORTEST_PAUSE = 250_000; // ns between two attempts to be at work again
  private static final long LONGEST_PAUSE = 8_000_000; // ns

  /** How long an exchange waits at most to be at work again. */
  static final Duration MAX_WAIT = Duration.ofSeconds(10);

  /**
   * Counts the exchanges of a server. At most {@code limit} are at work, and at most twice as many
   * are admitted, so requests that are sent slowly are bounded, too. An exchange is kept from work
   * only by exchanges at work. If stalled uploads counted among these, an upload that has arrived
   * would wait until a stalled one exceeds its limit. Both counts are in one long, because a count
   * that is raised and lowered again would have other exchanges refused meanwhile.
   *
   * <p>Exchanges at work may wait for a lock or a database connection whose owner is an exchange
   * that waits to be at work again. Therefore such a wait ends after {@link #MAX_WAIT}, even if
   * more than {@code limit} exchanges are then at work. The bound of admitted exchanges still
   * holds.
   */
  static final class PermitPool {
    private static final long AT_WORK = 1; // one exchange, in the low half
    private static final long ADMITTED = 1L << Integer.SIZE; // one exchange, in the high half

    private final int limit;
    private final LongSupplier clock; // in nanoseconds
    private final AtomicLong counts = new AtomicLong();
    // exchanges that wait to be at work again
    private final AtomicInteger waiting = new AtomicInteger();

    PermitPool(int limit, LongSupplier clock) {
      this.limit = limit;
      this.clock = clock;
    }

    /**
     * Admits an exchange, which is at work from then on. Returns null if there are too many, or if
     * others wait to be at work again, because these go first.
     */
    ExchangePermit tryAdmit() {
      if (waiting.get() != 0) return null;
      var permit = new ExchangePermit(this); // before the counts change: the allocation may fail
      return take(ADMITTED + AT_WORK) ? permit : null;
    }

    private boolean take(long added) {
      for (long current = counts.get(); atWork(current) < limit && admitted(current + added) <= 2L * limit; current =
          counts.get())
        if (counts.compareAndSet(current, current + added)) return true;
      return false;
    }

    private void add(long added) {
      counts.addAndGet(added);
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

  // each changes right after the pool's counts: no call in between can overflow the stack
  private final PermitPool pool;
  private boolean atWork = true;
  private boolean admitted = true;

  private ExchangePermit(PermitPool pool) {
    this.pool = pool;
  }

  /** Called when the exchange begins to wait for its client. */
  void suspend() {
    if (!atWork) return;
    SendStackProbe.probe(); // an overflow in `resume` would lose bytes that were read
    pool.add(-PermitPool.AT_WORK);
    atWork = false;
  }

  /**
   * Called when the client has sent or read. Waits until the exchange may be at work again, unless
   * the thread is interrupted, because then the exchange is about to end. It polls, because a stack
   * overflow could leave a queue of waiting exchanges half changed.
   */
  void resume() {
    if (atWork || !admitted) return;
    atWork = pool.take(PermitPool.AT_WORK);
    if (atWork) return;
    pool.waiting.incrementAndGet();
    try {
      awaitWork();
    } finally {
      pool.waiting.decrementAndGet();
    }
  }

  private void awaitWork() {
    long start = pool.clock.getAsLong();
    for (long pause = SHORTEST_PAUSE; !Thread.currentThread().isInterrupted(); pause =
        Math.min(2 * pause, LONGEST_PAUSE)) {
      if (pool.clock.getAsLong() - start >= MAX_WAIT.toNanos()) {
        pool.add(PermitPool.AT_WORK);
        atWork = true;
        return;
      }
      LockSupport.parkNanos(pause);
      atWork = pool.take(PermitPool.AT_WORK);
      if (atWork) return;
    }
  }

  /**
   * Gives the permit back, because the exchange is over or its response is ready. Further calls do
   * nothing.
   */
  void release() {
    if (!admitted) return;
    pool.add(atWork ? -(PermitPool.ADMITTED + PermitPool.AT_WORK) : -PermitPool.ADMITTED);
    admitted = false;
    atWork = false;
  }
}
