package io.fibry.time;

import java.time.Duration;
import java.util.Comparator;
import java.util.HashSet;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;

/**
 * A scheduler for tests: {@link #advance} moves its time and runs due tasks. Thread-safe.
 * {@snippet class="io.fibry.JavadocSnippetsTest" region="clock"}
 */
public final class ManualScheduler extends TaskScheduler {
  // guarded by this, like the next three
  private final TreeSet<ManualTask> queue =
      new TreeSet<>(Comparator.<ManualTask>comparingLong(e -> e.at).thenComparingLong(e -> e.number));
  private final Set<Thread> asleep = new HashSet<>();
  private long now;
  private long made;

  /** A clock at time zero. */
  public ManualScheduler() {}

  /**
   * Moves the time from one due task to the next, and runs each.
   *
   * @param by how far
   */
  public void advance(Duration by) {
    long end = nanoTime() + delay(by, "by");
    for (ManualTask due = next(end); due != null; due = next(end)) due.run();
  }

  /**
   * How far the clock must be moved for the next task to run.
   *
   * @return zero or more; empty if no task is left
   */
  public synchronized Optional<Duration> untilNext() {
    return queue.isEmpty() ? Optional.empty() : Optional.of(Duration.ofNanos(Math.max(0, queue.first().at - now)));
  }

  /** Moves the time to the next due entry, or null, to {@code end}. */
  private synchronized ManualTask next(long end) {
    ManualTask due = queue.isEmpty() || queue.first().at > end ? null : queue.pollFirst();
    now = Math.max(now, due == null ? end : due.at);
    return due;
  }

  @Override
  public synchronized long nanoTime() {
    return now;
  }

  @Override
  public Timer scheduleAt(long time, Runnable task) {
    synchronized (this) {
      if (time - now > 0) return start(task, time - now, 0);
    }
    var due = new ManualTask(Objects.requireNonNull(task, "task"), 0, 0);
    due.run(); // here, since the thread that moved the clock may have left
    return due;
  }

  @Override
  public void sleepUntil(long time) throws InterruptedException {
    var thread = Thread.currentThread();
    var reached = new CountDownLatch(1);
    Timer timer;
    synchronized (this) {
      if (time - now <= 0) return;
      timer = start(() -> wake(thread, reached), time - now, 0);
      asleep.add(thread);
    }
    try {
      reached.await();
    } finally {
      timer.cancel();
      wake(thread, reached);
    }
  }

  /** Before `advance` returns, the thread is no longer taken for asleep. */
  private synchronized void wake(Thread thread, CountDownLatch reached) {
    if (reached.getCount() == 0) return;
    asleep.remove(thread);
    reached.countDown();
  }

  @Override
  public boolean isManual() {
    return true;
  }

  @Override
  public synchronized boolean isAsleep(Thread thread) {
    // in this order: an interrupted thread runs, clears its flag, and then wants this monitor
    return asleep.contains(thread) && !thread.isInterrupted() && thread.getState() == Thread.State.WAITING;
  }

  @Override
  synchronized Timer start(Runnable task, long delay, long period) {
    var entry = new ManualTask(Objects.requireNonNull(task, "task"), delay, period);
    entry.enqueue();
    return entry;
  }

  private final class ManualTask extends ScheduledTask {
    private long number; // order of entries due at the same time

    ManualTask(Runnable task, long delay, long period) {
      super(ManualScheduler.this, task, delay, period);
    }

    @Override
    void enqueue() {
      synchronized (ManualScheduler.this) {
        number = made++;
        queue.add(this);
      }
    }

    @Override
    void dequeue() {
      synchronized (ManualScheduler.this) {
        queue.remove(this);
      }
    }
  }
}
