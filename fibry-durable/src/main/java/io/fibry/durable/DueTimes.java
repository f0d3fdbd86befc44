package io.fibry.durable;

import io.fibry.text.Lines;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.LoggerFactory;

/** When each actor is to be looked after next, by the store's clock. Thread-safe. */
final class DueTimes {
  // So late is a clock noticed that was set forward.
  private static final Duration CLOCK_CHECK_INTERVAL = Duration.ofMinutes(1);

  private record DueEntry(Instant at, String key) {}

  private final Supplier<Instant> now;
  private final Scheduler scheduler;
  private final Consumer<String> onDue;
  private final Map<String, Instant> dueByKey = new HashMap<>(); // by key; all under this object's monitor
  // may have entries that are not `dueByKey`
  private final PriorityQueue<DueEntry> queue = new PriorityQueue<>((one, other) -> one.at.compareTo(other.at));
  private Scheduler.Timer timer;
  private boolean closed;

  /** @param onDue gets the keys of actors whose time has come, on the timers' thread */
  DueTimes(Supplier<Instant> now, Scheduler scheduler, Consumer<String> onDue) {
    this.now = now;
    this.scheduler = scheduler;
    this.onDue = onDue;
  }

  /** Does nothing if it is looked after earlier. */
  synchronized void add(String key, Instant at) {
    var before = dueByKey.get(key);
    if (closed || before != null && !at.isBefore(before)) return;
    dueByKey.put(key, at);
    var entry = new DueEntry(at, key);
    queue.add(entry);
    if (queue.peek() == entry) setTimer();
  }

  /**
   * Sets the timer for the first entry. If a manual clock has reached its time already, the timer
   * calls {@link #runDue} here, under the monitor, which then sets the next timer. The reader of due
   * entries may take locks, because no thread that calls this method holds one of them.
   */
  private void setTimer() {
    if (timer != null) timer.cancel();
    timer = null;
    var fresh = scheduler.scheduleAt(nextClockCheck(queue.peek().at), this::runDue);
    if (timer == null) timer = fresh;
  }

  /**
   * Returns when to read the store's clock next, by the scheduler's clock. The scheduler's clock is
   * read first: if both move in between, the next look comes too early, and another look follows.
   */
  private long nextClockCheck(Instant time) {
    long nanos = scheduler.nanoTime();
    var left = Duration.between(now.get(), time);
    return nanos
        + (left.isNegative() ? Duration.ZERO : left.compareTo(CLOCK_CHECK_INTERVAL) > 0 ? CLOCK_CHECK_INTERVAL : left)
            .toNanos();
  }

  void sleepUntil(Instant time) throws InterruptedException {
    while (now.get().isBefore(time)) scheduler.sleepUntil(nextClockCheck(time));
  }

  private void runDue() {
    for (var key : removeDue()) try {
      onDue.accept(key);
    } catch (Throwable failure) { // of memory: the others still want to be looked after
      LoggerFactory.getLogger(Durable.class).error("what waits for '{}' is late", Lines.escaped(key), failure);
    }
  }

  private synchronized List<String> removeDue() {
    var due = new ArrayList<String>();
    for (var first = queue.peek(); first != null && !first.at.isAfter(now.get()); first = queue.peek()) {
      queue.poll();
      if (dueByKey.remove(first.key, first.at)) due.add(first.key);
    }
    if (!queue.isEmpty() && !closed) setTimer();
    return due;
  }

  synchronized void close() {
    closed = true;
    if (timer != null) timer.cancel();
  }
}
