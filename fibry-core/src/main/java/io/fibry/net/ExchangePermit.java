package io.fibry.net;

import io.fibry.block.SendStackProbe;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/**
 * Lets an exchange be at work. An exchange that waits for its client is not at work, or slow
 * clients would keep out others. Belongs to the thread of its exchange.
 */
final class ExchangePermit {
  private static final long SHORTEST_PAUSE = 250_000; // ns between two attempts to be at work again
  private static final long LONGEST_PAUSE = 8_000_000;

  /** How long an exchange waits at most to be at work again. */
  static final Duration MAX_WAIT = Duration.ofSeconds(10);

  /**
   * Counts the exchanges of a server. At most {@code limit} are at work, and at most twice as many
   * are admitted, so what clients send slowly has a bound, too. Only exchanges at work keep another
   * from work: were a stalled upload counted among them, an upload that has come would wait for the
   * limit of the stalled one. Both counts lie in one word, because a count that is raised and taken
   * back would have other exchanges refused meanwhile.
   *
   * <p>Exchanges at work may wait for a lock or a connection to a database, and its owner may be an
   * exchange that waits to be at work again. So such a wait ends after {@link #MAX_WAIT}, and more
   * than {@code limit} are at work; the bound of the admitted exchanges still holds.
   */
  static final class PermitPool {
    private static final long AT_WORK = 1; // the low half
    private static final long ADMITTED = 1L << Integer.SIZE; // the high half

    private final int limit;
    private final LongSupplier clock; // in nanoseconds
    private final AtomicLong counts = new AtomicLong();
    private final AtomicInteger returning = new AtomicInteger(); // wait to be at work again

    PermitPool(int limit, LongSupplier clock) {
      this.limit = limit;
      this.clock = clock;
    }

    /**
     * Admits an exchange, which is at work. Returns null if there are too many, or if others wait
     * to be at work again: they go first.
     */
    ExchangePermit permit() {
      if (returning.get() != 0) return null;
      var permit = new ExchangePermit(this); // before the counts change, because memory may be full
      return take(ADMITTED + AT_WORK) ? permit : null;
    }

    private boolean take(long added) {
      for (long now = counts.get(); atWork(now) < limit && admitted(now + added) <= 2L * limit; now = counts.get())
        if (counts.compareAndSet(now, now + added)) return true;
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

  // each changes right after the counts, with no call in between that could use up the stack
  private final PermitPool pool;
  private boolean atWork = true;
  private boolean admitted = true;

  private ExchangePermit(PermitPool pool) {
    this.pool = pool;
  }

  /** The exchange waits for its client. */
  void suspend() {
    if (!atWork) return;
    SendStackProbe.probe(); // for `resume`: bytes that were read must not be lost there
    pool.add(-PermitPool.AT_WORK);
    atWork = false;
  }

  /**
   * The client has sent, or read. Waits to be at work again, unless the thread is interrupted: then
   * the exchange is about to end. It tries again and again, since a queue could be left half
   * changed where the handler has used up its stack.
   */
  void resume() {
    if (atWork || !admitted) return;
    atWork = pool.take(PermitPool.AT_WORK);
    if (atWork) return;
    pool.returning.incrementAndGet();
    try {
      awaitWork();
    } finally {
      pool.returning.decrementAndGet();
    }
  }

  private void awaitWork() {
    long begun = pool.clock.getAsLong();
    for (long pause = SHORTEST_PAUSE; !Thread.currentThread().isInterrupted(); pause =
        Math.min(2 * pause, LONGEST_PAUSE)) {
      if (pool.clock.getAsLong() - begun >= MAX_WAIT.toNanos()) {
        pool.add(PermitPool.AT_WORK);
        atWork = true;
        return;
      }
      LockSupport.parkNanos(pause);
      atWork = pool.take(PermitPool.AT_WORK);
      if (atWork) return;
    }
  }

  /** The exchange is over, or its response is ready. */
  void leave() {
    if (!admitted) return;
    pool.add(atWork ? -(PermitPool.ADMITTED + PermitPool.AT_WORK) : -PermitPool.ADMITTED);
    admitted = false;
    atWork = false;
  }
}
