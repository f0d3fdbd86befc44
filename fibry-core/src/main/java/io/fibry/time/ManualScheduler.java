package io.fibry.time;

import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashSet;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;

/**
 * A scheduler for tests. Its time passes only in calls of {@link #advance}, which also run the
 * tasks that become due. Thread-safe.
 * {@snippet class="io.fibry.JavadocSnippetsTest" region="clock"}
 */
public final class ManualScheduler extends TaskScheduler {
  private final Instant start; // time of day when the time of this clock is zero
  // This field and the next three are guarded by this.
  private final TreeSet<ManualTask> queue =
      new TreeSet<>(Comparator.comparingLong(ManualTask::dueAt).thenComparingLong(task -> task.number));
  private final Set<Thread> sleepers = new HashSet<>(); // threads in sleepUntil
  private long now; // ns
  private long nextNumber;

  /** Makes a clock whose time is zero, at the start of the year 2000. */
  public ManualScheduler() {
    this(Instant.parse("2000-01-01T00:00:00Z"));
  }

  /**
   * Makes a clock whose time is zero.
   *
   * @param start the time of day of this clock before it is advanced
   */
  public ManualScheduler(Instant start) {
    this.start = Objects.requireNonNull(start, "start");
  }

  @Override
  public Instant instant() {
    return start.plusNanos(nanoTime());
  }

  /**
   * Moves the clock forward. The clock stops at the time of each task that becomes due, and runs
   * the task on the current thread.
   *
   * @param duration how far to move the time; zero or more
   */
  public void advance(Duration duration) {
    long end = nanoTime() + checkedDelay(duration, "duration");
    for (var task = pollDue(end); task != null; task = pollDue(end)) task.fire();
  }

  /**
   * Returns how far the clock must be moved for the next task to run.
   *
   * @return zero or more; empty if no task is scheduled
   */
  public synchronized Optional<Duration> untilNext() {
    return queue.isEmpty() ? Optional.empty() : Optional.of(Duration.ofNanos(Math.max(0, queue.first().dueAt() - now)));
  }

  /**
   * Moves the time to the next task that is due at {@code end} or before, and returns the task. If
   * no such task exists, moves the time to {@code end} and returns null.
   */
  private synchronized ManualTask pollDue(long end) {
    ManualTask task = queue.isEmpty() || queue.first().dueAt() > end ? null : queue.pollFirst();
    now = Math.max(now, task == null ? end : task.dueAt());
    return task;
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
    var timer = new ManualTask(Objects.requireNonNull(task, "task"), time, 0);
    timer.fire(); // on this thread, because the `advance` that moved the clock past `time` may have returned
    return timer;
  }

  @Override
  public void sleepUntil(long time) throws InterruptedException {
    var thread = Thread.currentThread();
    var timeReached = new CountDownLatch(1);
    Timer timer;
    synchronized (this) {
      if (time - now <= 0) return;
      timer = start(() -> wake(thread, timeReached), time - now, 0);
      sleepers.add(thread);
    }
    try {
      timeReached.await();
    } finally {
      timer.cancel();
      wake(thread, timeReached);
    }
  }

  /**
   * Wakes a thread that is in {@link #sleepUntil}. The thread that moves the clock removes the
   * woken thread from the sleepers. So {@link #isAsleep} returns false for the woken thread when
   * {@link #advance} returns.
   */
  private synchronized void wake(Thread thread, CountDownLatch timeReached) {
    if (timeReached.getCount() == 0) return;
    sleepers.remove(thread);
    timeReached.countDown();
  }

  @Override
  public boolean isManual() {
    return true;
  }

  @Override
  public synchronized boolean isAsleep(Thread thread) {
    // The interrupt flag is read before the state, because an interrupted sleeper wakes up, clears
    // its flag, and then blocks on this monitor.
    return sleepers.contains(thread) && !thread.isInterrupted() && thread.getState() == Thread.State.WAITING;
  }

  @Override
  synchronized Timer start(Runnable task, long delay, long period) {
    var timer = new ManualTask(Objects.requireNonNull(task, "task"), now + delay, period);
    timer.enqueue();
    return timer;
  }

  private final class ManualTask extends ScheduledTask {
    private long number; // the order of tasks that are due at the same time

    ManualTask(Runnable task, long dueAt, long period) {
      super(task, dueAt, period);
    }

    private long dueAt() {
      return dueAt;
    }

    @Override
    TaskScheduler clock() {
      return ManualScheduler.this;
    }

    private void enqueue() {
      synchronized (ManualScheduler.this) {
        number = nextNumber++;
        queue.add(this);
      }
    }

    private void dequeue() {
      synchronized (ManualScheduler.this) {
        queue.remove(this);
      }
    }

    @Override
    void startAgain() {
      if (!endRun()) return;
      enqueue();
      if (!isOpen()) dequeue(); // this task may have been cancelled before it was queued
    }

    @Override
    boolean cancelInQueue() {
      boolean wasOpen = close();
      if (wasOpen) dequeue();
      return wasOpen;
    }
  }
}
