package io.fibry.block;

import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * Logs losses that may happen thousands of times a second, such as refused requests: the first at
 * once, then at most one line a minute with the number of the others, and one line when a minute
 * had no loss. So each loss is in a line, and if the clock fails, in the line of a later loss or of
 * the end. A {@code LogThrottle} does not ensure this, because it waits for a further event before
 * it tells the number of the last ones. Costs nothing while no loss happens. Thread-safe.
 */
public final class LossLog {
  private static final Duration PERIOD = Duration.ofMinutes(1);

  /** Writes the lines. */
  public interface Writer {
    /** Called on the thread of the first loss. */
    void begun();

    /**
     * Called once a minute, with the losses since the last line; on the thread of a loss if the
     * clock has set no timer.
     */
    void continued(long count);

    /** Called after a minute without a loss, and when the server ends, with all losses. */
    void ended(long totalCount);
  }

  private final Scheduler clock;
  private final Writer writer;
  // the next ones are guarded by the monitor, which is never held while a line is written
  private long total; // losses since `begun`; 0: none
  private long logged; // how many of them are in a line
  private boolean isClosed;
  private Scheduler.Timer timer; // of the next line; null: none, or the clock has failed
  private long triedNanos; // time of the clock at which the last timer was set, or was to be set

  /**
   * Makes a log.
   *
   * @param end completed when the server ends; the log then writes its last line
   */
  public LossLog(Scheduler clock, CompletableFuture<?> end, Writer writer) {
    this.clock = clock;
    this.writer = writer;
    end.whenComplete((result, failure) -> close());
  }

  /** Counts a loss. */
  public void countLoss() {
    long count; // losses that this call logs
    boolean isFirst;
    synchronized (this) {
      if (isClosed) return;
      total++;
      isFirst = total == 1;
      if (isFirst) logged = 0;
      else if (timer != null || clock.nanoTime() - triedNanos < PERIOD.toNanos()) return;
      count = total - logged;
      logged = total;
      timer = schedule();
    }
    if (isFirst) writer.begun();
    else writer.continued(count); // no timer has written this line
  }

  /**
   * Returns null if the clock fails, because a loss must not fail for another reason. A loss that
   * comes a minute later then tries again.
   */
  private Scheduler.Timer schedule() {
    triedNanos = clock.nanoTime();
    try {
      return clock.schedule(PERIOD, this::startLine);
    } catch (Throwable failure) { // also an Error, such as an OutOfMemoryError
      return null;
    }
  }

  /** Uses a fiber, because a log may block, and the clock has only one thread. */
  private void startLine() {
    try {
      Thread.ofVirtual().name("fibry-losses").inheritInheritableThreadLocals(false).start(this::writeLine);
    } catch (OutOfMemoryError noThread) {
      writeLine();
    }
  }

  private void writeLine() {
    long count;
    long totalCount;
    synchronized (this) {
      if (total == 0) return; // the server has ended
      totalCount = total;
      count = total - logged;
      logged = total;
      timer = null;
      if (count > 0) timer = schedule();
      else total = 0;
    }
    if (count > 0) writer.continued(count);
    else writer.ended(totalCount);
  }

  private void close() {
    long totalCount;
    synchronized (this) {
      isClosed = true;
      totalCount = total;
      total = 0;
      if (timer != null) timer.cancel();
      timer = null;
    }
    if (totalCount > 0) writer.ended(totalCount);
  }
}
