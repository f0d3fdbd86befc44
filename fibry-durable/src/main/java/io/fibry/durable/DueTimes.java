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
  private static final Duration LOOK = Duration.ofMinutes(1); // so late is a clock noticed that was set forward

  private record DueEntry(Instant at, String key) {}

  private final Supplier<Instant> now;
  private final Scheduler scheduler;
  private final Consumer<String> reader;
  private final Map<String, Instant> next = new HashMap<>(); // by key; all under this object's monitor
  // may have entries that are not `next`
  private final PriorityQueue<DueEntry> queue = new PriorityQueue<>((one, other) -> one.at.compareTo(other.at));
  private Scheduler.Timer timer;
  private boolean closed;

  /** @param reader gets the keys of actors whose time has come, on the timers' thread */
  DueTimes(Supplier<Instant> now, Scheduler scheduler, Consumer<String> reader) {
    this.now = now;
    this.scheduler = scheduler;
    this.reader = reader;
  }

  /** Does nothing if it is looked after earlier. */
  synchronized void add(String key, Instant at) {
    var before = next.get(key);
    if (closed || before != null && !at.isBefore(before)) return;
    next.put(key, at);
    var entry = new DueEntry(at, key);
    queue.add(entry);
    if (queue.peek() == entry) setTimer();
  }

  /**
   * Sets the timer for the first entry. If a manual clock has reached its time already, the timer
   * calls {@link #look} here, under the monitor, which then sets the next timer. The reader of due
   * entries may take locks, because no thread that calls this method holds one of them.
   */
  private void setTimer() {
    if (timer != null) timer.cancel();
    timer = null;
    var fresh = scheduler.scheduleAt(nextLook(queue.peek().at), this::look);
    if (timer == null) timer = fresh;
  }

  /**
   * Returns when to read the store's clock next, by the scheduler's clock. The scheduler's clock is
   * read first: if both move in between, the next look comes too early, and another look follows.
   */
  private long nextLook(Instant time) {
    long nanos = scheduler.nanoTime();
    var left = Duration.between(now.get(), time);
    return nanos + (left.isNegative() ? Duration.ZERO : left.compareTo(LOOK) > 0 ? LOOK : left).toNanos();
  }

  void sleepUntil(Instant time) throws InterruptedException {
    while (now.get().isBefore(time)) scheduler.sleepUntil(nextLook(time));
  }

  private void look() {
    for (var key : due()) try {
      reader.accept(key);
    } catch (Throwable failure) { // of memory: the others still want to be looked after
      LoggerFactory.getLogger(Durable.class).error("what waits for '{}' is late", Lines.escaped(key), failure);
    }
  }

  private synchronized List<String> due() {
    var due = new ArrayList<String>();
    for (var first = queue.peek(); first != null && !first.at.isAfter(now.get()); first = queue.peek()) {
      queue.poll();
      if (next.remove(first.key, first.at)) due.add(first.key);
    }
    if (!queue.isEmpty() && !closed) setTimer();
    return due;
  }

  synchronized void close() {
    closed = true;
    if (timer != null) timer.cancel();
  }
}
