package io.fibry.net.socket;

import io.fibry.time.Scheduler;
import java.util.concurrent.TimeUnit;

/** Allows one log line a minute. Thread-safe. */
public final class LogThrottle {
  private static final long PERIOD = TimeUnit.MINUTES.toNanos(1);

  private final Scheduler clock;
  // guarded by the monitor
  private long count; // events since the last line
  private long lastLine; // time of the clock, in ns

  public LogThrottle(Scheduler clock) {
    this.clock = clock;
    this.lastLine = clock.nanoTime() - PERIOD;
  }

  /**
   * Counts an event. If a line is due, returns the number of events since the last line. Otherwise
   * returns 0.
   */
  public synchronized long countEvent() {
    count++;
    long now = clock.nanoTime();
    if (now - lastLine < PERIOD) return 0;
    lastLine = now;
    long lineCount = count;
    count = 0;
    return lineCount;
  }
}
