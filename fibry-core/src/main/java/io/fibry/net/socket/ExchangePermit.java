package io.fibry.net.socket;

import io.fibry.block.SendStackProbe;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/**
 * Allows an exchange to be at work. An exchange that waits for its client is not at work, because
 * otherwise slow clients would keep other clients out. Used by the thread of its exchange.
 */
public final class ExchangePermit {
  private static final long MIN_PAUSE = 250_000; // ns between two attempts to be at work again
  private static final long MAX_PAUSE = 8_000_000; // ns

  /** The maximum time for which an exchange waits to be at work again. */
  public static final Duration MAX_WAIT = Duration.ofSeconds(10);

  /**
   * Counts the exchanges of a server. At most {@code limit} are at work, and at most twice as many
   * are admitted, so requests that are sent slowly are bounded, too. Only exchanges at work keep
   * another exchange from working. If exchanges that wait for a stalled upload counted as work, a
   * client whose upload is complete would wait for the time-out of another client's upload. Both
   * counts are in one long, so that they change together. If one count were raised first and
   * lowered after a refusal, other exchanges could be refused in between.
   *
   * <p>Exchanges at work may wait for a lock or a database connection whose owner is an exchange
   * that waits to be at work again. Therefore the wait of that exchange ends after
   * {@link #MAX_WAIT}, even if more than {@code limit} exchanges are then at work. The bound of
   * admitted exchanges holds in any case.
   */
  public static final class PermitPool {
    private static final long AT_WORK = 1; // one exchange, in the low half
    private static final long ADMITTED = 1L << Integer.SIZE; // one exchange, in the high half

    private final int limit;
    private final LongSupplier clock; // in nanoseconds
    private final AtomicLong counts = new AtomicLong();
    // exchanges that wait to be at work again
    private final AtomicInteger waitingExchanges = new AtomicInteger();

    public PermitPool(int limit, LongSupplier clock) {
      this.limit = limit;
      this.clock = clock;
    }

    /**
     * Admits an exchange, which is at work from then on. Returns null if too many exchanges are
     * admitted or at work. This method also returns null while admitted exchanges wait to be at
     * work again, because these exchanges come first.
     */
    public ExchangePermit tryAdmit() {
      if (waitingExchanges.get() != 0) return null;
      var permit = new ExchangePermit(this); // made before the counts change, because the allocation may fail
      return tryAdd(ADMITTED + AT_WORK) ? permit : null;
    }

    /** Adds to the counts if the limits allow it, and returns whether they were changed. */
    private boolean tryAdd(long added) {
      for (long current = counts.get(); atWork(current) < limit && admitted(current + added) <= 2L * limit; current =
          counts.get())
        if (counts.compareAndSet(current, current + added)) return true;
      return false;
    }

    private void add(long added) {
      counts.addAndGet(added);
    }

    public int atWork() {
      return atWork(counts.get());
    }

    public int admitted() {
      return admitted(counts.get());
    }

    private static int atWork(long counts) {
      return (int) counts;
    }

    private static int admitted(long counts) {
      return (int) (counts >> Integer.SIZE);
    }
  }

  // the two flags below change right after the counts of the pool, with no call in between that
  // could overflow the stack
  private final PermitPool pool;
  private boolean isAtWork = true;
  private boolean isAdmitted = true;

  private ExchangePermit(PermitPool pool) {
    this.pool = pool;
  }

  /** Called when the exchange begins to wait for its client. */
  public void suspend() {
    if (!isAtWork) return;
    // checks now that the stack suffices for `resume`, where an overflow would lose read bytes
    SendStackProbe.probe();
    pool.add(-PermitPool.AT_WORK);
    isAtWork = false;
  }

  /**
   * Called when the client has sent or read. Waits until the exchange may be at work again, unless
   * the thread is interrupted, because then the exchange is about to end. The wait is a poll,
   * because a stack overflow could leave a queue of waiting exchanges half changed.
   */
  public void resume() {
    if (isAtWork || !isAdmitted) return;
    isAtWork = pool.tryAdd(PermitPool.AT_WORK);
    if (isAtWork) return;
    pool.waitingExchanges.incrementAndGet();
    try {
      awaitWork();
    } finally {
      pool.waitingExchanges.decrementAndGet();
    }
  }

  private void awaitWork() {
    long start = pool.clock.getAsLong();
    for (long pause = MIN_PAUSE; !Thread.currentThread().isInterrupted(); pause =
        Math.min(2 * pause, MAX_PAUSE)) {
      if (pool.clock.getAsLong() - start >= MAX_WAIT.toNanos()) {
        pool.add(PermitPool.AT_WORK);
        isAtWork = true;
        return;
      }
      LockSupport.parkNanos(pause);
      isAtWork = pool.tryAdd(PermitPool.AT_WORK);
      if (isAtWork) return;
    }
  }

  /**
   * Gives the permit back, because the exchange is over or its response is ready. Further calls do
   * nothing.
   */
  public void release() {
    if (!isAdmitted) return;
    pool.add(isAtWork ? -(PermitPool.ADMITTED + PermitPool.AT_WORK) : -PermitPool.ADMITTED);
    isAdmitted = false;
    isAtWork = false;
  }
}
