package io.fibry.durable;

import io.fibry.codec.text.Lines;
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
final class Calendar {
  private static final Duration LOOK = Duration.ofMinutes(1); // so late is a clock noticed that was set forward

  private record Entry(Instant at, String key) {}

  private final Supplier<Instant> now;
  private final Scheduler scheduler;
  private final Consumer<String> reader;
  private final Map<String, Instant> next = new HashMap<>(); // by key; all under this object's monitor
  // may have entries that are not `next`
  private final PriorityQueue<Entry> queue = new PriorityQueue<>((one, other) -> one.at.compareTo(other.at));
  private Scheduler.Timer timer;
  private boolean closed;

  /** @param reader gets the keys of those whose time has come, on the timers' thread */
  Calendar(Supplier<Instant> now, Scheduler scheduler, Consumer<String> reader) {
    this.now = now;
    this.scheduler = scheduler;
    this.reader = reader;
  }

  /** Does nothing if it is looked after earlier. */
  synchronized void add(String key, Instant at) {
    var before = next.get(key);
    if (closed || before != null && !at.isBefore(before)) return;
    next.put(key, at);
    var entry = new Entry(at, key);
    queue.add(entry);
    if (queue.peek() == entry) setTimer();
  }

  private void setTimer() {
    if (timer != null) timer.cancel();
    var left = untilLook(queue.peek().at);
    timer = scheduler.after(left.isNegative() ? Duration.ZERO : left, this::look);
  }

  /** From now to a time, or to the next look at the clock. */
  private Duration untilLook(Instant time) {
    var left = Duration.between(now.get(), time);
    return left.compareTo(LOOK) > 0 ? LOOK : left;
  }

  void sleepUntil(Instant time) throws InterruptedException {
    for (var left = untilLook(time); left.isPositive(); left = untilLook(time))
      scheduler.sleepUntil(scheduler.nanoTime() + left.toNanos());
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
