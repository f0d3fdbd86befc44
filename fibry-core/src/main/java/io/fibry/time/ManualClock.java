package io.fibry.time;

import java.time.Duration;
import java.util.Comparator;
import java.util.Objects;
import java.util.TreeSet;

/**
 * A scheduler for tests: {@link #advance} moves its time and runs due tasks. Thread-safe.
 * {@snippet class="io.fibry.JavadocSnippetsTest" region="clock"}
 */
public final class ManualClock extends TaskScheduler {
  // guarded by this, like the next two
  private final TreeSet<Entry> queue =
      new TreeSet<>(Comparator.<Entry>comparingLong(e -> e.at).thenComparingLong(e -> e.number));
  private long now;
  private long made;

  /** A clock at time zero. */
  public ManualClock() {}

  /**
   * Moves the time from one due task to the next, and runs each.
   *
   * @param by how far
   */
  public void advance(Duration by) {
    long end = nanoTime() + delay(by, "by");
    for (Entry due = next(end); due != null; due = next(end)) due.run();
  }

  /** Moves the time to the next due entry, or null, to {@code end}. */
  private synchronized Entry next(long end) {
    Entry due = queue.isEmpty() || queue.first().at > end ? null : queue.pollFirst();
    now = Math.max(now, due == null ? end : due.at);
    return due;
  }

  @Override
  public synchronized long nanoTime() {
    return now;
  }

  @Override
  synchronized Timer start(Runnable task, long delay, long period) {
    var entry = new Entry(Objects.requireNonNull(task, "task"), delay, period);
    entry.enqueue();
    return entry;
  }

  private final class Entry extends ScheduledTask {
    private long number; // order of entries due at the same time

    Entry(Runnable task, long delay, long period) {
      super(ManualClock.this, task, delay, period);
    }

    @Override
    void enqueue() {
      synchronized (ManualClock.this) {
        number = made++;
        queue.add(this);
      }
    }

    @Override
    void dequeue() {
      synchronized (ManualClock.this) {
        queue.remove(this);
      }
    }
  }
}
