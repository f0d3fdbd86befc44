package io.fibry.durable.delivery;

import io.fibry.durable.storage.DurableLog;
import io.fibry.text.Lines;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * The next time at which each actor needs a courier, by the store's clock. Thread-safe.
 *
 * <p>The scheduler and the store's clock may be code of a user, which may wait for locks. So no
 * thread calls them under the monitor, and several threads may set timers at the same time. Each
 * timer has a number, which its thread takes under the monitor when it reads the first entry. A
 * timer with a higher number was computed from newer entries. So a timer replaces only timers with
 * lower numbers, and is cancelled if a timer with a higher number has been set or has run.
 *
 * <p>A timer may run before its thread has stored it, while {@code timer} still has a timer with a
 * lower number. The run then takes this timer over. The run cancels it when the next timer is set;
 * if none can be set, the old timer still checks the first entry.
 */
public final class DueTimes {
  // The store's clock may be set forward, so it is read again after this time at most.
  private static final Duration CLOCK_CHECK_INTERVAL = Duration.ofMinutes(1);

  private record DueEntry(Instant at, String key) {}

  private final Supplier<Instant> now;
  private final Scheduler scheduler;
  private final Consumer<String> onDue;
  private final Map<String, Instant> dueByKey = new HashMap<>(); // guarded by the monitor, as are the next fields
  // also has obsolete entries: their time differs from the time of their key in `dueByKey`
  private final PriorityQueue<DueEntry> queue = new PriorityQueue<>((a, b) -> a.at.compareTo(b.at));
  private Scheduler.Timer timer; // of the newest check; null if that check has run, or none was set
  private long lastCheck; // number of the last check whose timer was being set
  private long newestCheck; // highest number of a check whose timer was set or has run
  private boolean closed;

  /**
   * @param onDue gets the key of each actor that is due; runs on the scheduler's thread, or in
   * {@link #add} if a manual clock has reached the due time already
   */
  DueTimes(Supplier<Instant> now, Scheduler scheduler, Consumer<String> onDue) {
    this.now = now;
    this.scheduler = scheduler;
    this.onDue = onDue;
  }

  /** Sets the due time of an actor, unless the actor has an earlier due time. */
  void add(String key, Instant due) {
    synchronized (this) {
      if (closed) return;
      var entry = new DueEntry(due, key);
      var existing = dueByKey.get(key);
      if (existing == null || due.isBefore(existing)) {
        queue.add(entry);
        dueByKey.put(key, due);
      }
      if (queue.peek() != entry && timer != null) return;
    }
    setTimer();
  }

  /**
   * Sets the timer for the first entry. If a manual clock has reached the entry's time already, the
   * timer calls {@link #runDue} at once, and {@code runDue} sets the next timer. If the scheduler
   * or the store's clock throws, the previous timer stays.
   */
  private void setTimer() {
    Instant due;
    long check;
    synchronized (this) {
      if (closed || queue.isEmpty()) return;
      due = queue.peek().at;
      check = ++lastCheck;
    }
    var newTimer = scheduler.scheduleAt(nextClockCheck(due), () -> runDue(check));
    Scheduler.Timer obsoleteTimer;
    synchronized (this) {
      boolean isNewest = check > newestCheck && !closed;
      obsoleteTimer = isNewest ? timer : newTimer;
      if (isNewest) {
        timer = newTimer;
        newestCheck = check;
      }
    }
    if (obsoleteTimer != null) obsoleteTimer.cancel();
  }

  /**
   * Returns when to read the store's clock next, in nanoseconds of the scheduler's clock. The
   * scheduler's clock is read before the store's clock. If time passes between the two reads, the
   * next check comes too early, and finds that a further check is needed.
   */
  private long nextClockCheck(Instant due) {
    long nanos = scheduler.nanoTime();
    var wait = Duration.between(now.get(), due);
    return nanos
        + (wait.isNegative() ? Duration.ZERO : wait.compareTo(CLOCK_CHECK_INTERVAL) > 0 ? CLOCK_CHECK_INTERVAL : wait)
            .toNanos();
  }

  /**
   * Blocks the current thread until a time of the store's clock. The thread parks once, however
   * long it sleeps: the checks of the store's clock run on the timer's thread. If a fiber woke for
   * each check, it would get a second part of its stack in the heap when it parks again. A manual
   * clock must know its sleepers, so there the thread sleeps from check to check.
   */
  public void sleepUntil(Instant time) throws InterruptedException {
    while (now.get().isBefore(time)) {
      if (scheduler.isManual()) {
        scheduler.sleepUntil(nextClockCheck(time));
        continue;
      }
      var wakeUp = new WakeUp(time);
      wakeUp.planCheck();
      try {
        while (wakeUp.isPending()) LockSupport.park(this);
      } finally {
        wakeUp.cancel();
      }
    }
  }

  /**
   * Wakes the thread that made it when the store's clock has reached a time, or when that clock or
   * the scheduler fails. The woken thread reads the clock itself, and gets the failure, if any.
   *
   * <p>The timer's thread writes {@code isPending} and then unparks the sleeper. The sleeper reads
   * {@code isPending} and then parks, so the wake-up is not lost. Each run of the timer plans the
   * next check or wakes the sleeper. After the end of the sleep, no check is planned: a timer that
   * was not cancelled because both threads wrote {@code timer} runs once more, within a minute.
   */
  private final class WakeUp implements Runnable {
    private final Thread sleeper = Thread.currentThread();
    private final Instant time;
    private volatile boolean isPending = true; // cleared by the timer's thread, and by the sleeper at its end
    private volatile Scheduler.Timer timer; // of the next check; written by the sleeper, then by the timer's thread

    WakeUp(Instant time) {
      this.time = time;
    }

    /** Returns whether the sleeper must park. Throws if it is interrupted. */
    boolean isPending() throws InterruptedException {
      if (Thread.interrupted()) throw new InterruptedException();
      return isPending;
    }

    void cancel() {
      isPending = false;
      timer.cancel();
    }

    /**
     * Plans the next check. A user's clock may reach the time of the check before the timer is set,
     * and may run the timer only when the clock is moved again. The sleeper must wake then.
     */
    void planCheck() {
      long checkTime = nextClockCheck(time);
      timer = scheduler.scheduleAt(checkTime, this);
      if (!isPending) timer.cancel();
      else if (checkTime - scheduler.nanoTime() <= 0) isPending = false;
    }

    /** Checks the store's clock; called by the timer's thread. */
    @Override
    public void run() {
      boolean isPlanned = false;
      try {
        if (isPending && now.get().isBefore(time)) {
          planCheck();
          isPlanned = isPending;
        }
      } finally {
        if (!isPlanned) wake();
      }
    }

    private void wake() {
      isPending = false;
      LockSupport.unpark(sleeper);
    }
  }

  private void runDue(long check) {
    for (var key : removeDue(check)) try {
      onDue.accept(key);
    } catch (Throwable failure) { // such as a lack of memory: the other keys still get their courier
      DurableLog.LOG.error("messages that wait for '{}' are delivered late", Lines.escaped(key), failure);
    }
  }

  /** Called by a timer. If no next timer can be set, the next call of {@link #add} sets it. */
  private List<String> removeDue(long check) {
    Scheduler.Timer obsoleteTimer;
    synchronized (this) {
      if (closed) return List.of();
      obsoleteTimer = check > newestCheck ? timer : null;
      if (check >= newestCheck) timer = null; // it has run, or is obsolete
      newestCheck = Math.max(newestCheck, check);
    }
    var dueKeys = new ArrayList<String>();
    try {
      removeDue(now.get(), dueKeys);
      setTimer();
      if (obsoleteTimer != null) obsoleteTimer.cancel();
    } catch (Throwable failure) {
      DurableLog.LOG.error("waiting messages and reminders are delivered late, because no timer can be set", failure);
    }
    return dueKeys;
  }

  private synchronized void removeDue(Instant time, List<String> dueKeys) {
    for (var entry = queue.peek(); entry != null && !entry.at.isAfter(time); entry = queue.peek()) {
      if (entry.at.equals(dueByKey.get(entry.key))) {
        dueKeys.add(entry.key); // first: if memory is short, `add` throws, and the key stays in `dueByKey`
        dueByKey.remove(entry.key);
      }
      queue.poll();
    }
  }

  void close() {
    Scheduler.Timer lastTimer;
    synchronized (this) {
      closed = true;
      lastTimer = timer;
    }
    if (lastTimer != null) lastTimer.cancel();
  }
}
