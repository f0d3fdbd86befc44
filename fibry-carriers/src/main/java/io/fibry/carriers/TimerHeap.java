package io.fibry.carriers;

import java.util.Arrays;
import java.util.concurrent.Delayed;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The timed parks of the virtual threads that parked on one carrier: a heap in which each node has
 * four children. The JDK asks the scheduler of a virtual thread for its timers (Java 25).
 *
 * <p>The owner adds timers, and runs each timer that is due. If the owner is stuck in an entry, the
 * {@link CarrierWatch} runs them. Any carrier may cancel a timer. The monitor guards the heap; it
 * is almost always free, because a thread usually continues on its last carrier. A timer leaves the
 * heap under the monitor. Therefore it runs once or is cancelled. It runs without the monitor.
 */
final class TimerHeap {
  private static final long NEVER = Long.MAX_VALUE; // no timer has this time
  private static final int CHILDREN_SHIFT = 2;

  private CarrierTimer[] timers = new CarrierTimer[64]; // guarded by this
  private int size; // guarded by this
  private volatile long nextTime = NEVER; // of the first timer; written under the monitor

  /** A timer, which is in its heap until it is due or cancelled. */
  private static final class CarrierTimer implements ScheduledFuture<@Nullable Object> {
    private static final int NOWHERE = -1;

    private final TimerHeap heap;
    private final long time; // by System.nanoTime
    private @Nullable Runnable command; // null once the timer has left the heap; guarded by the heap
    private int index = NOWHERE; // in the heap; guarded by the heap
    private volatile boolean isCancelled;

    CarrierTimer(TimerHeap heap, Runnable command, long time) {
      this.heap = heap;
      this.command = command;
      this.time = time;
    }

    @Override
    public boolean cancel(boolean mayInterrupt) {
      synchronized (heap) {
        if (index == NOWHERE) return false;
        heap.remove(this);
        command = null;
        return isCancelled = true;
      }
    }

    @Override
    public boolean isCancelled() {
      return isCancelled;
    }

    @Override
    public boolean isDone() {
      synchronized (heap) {
        return index == NOWHERE;
      }
    }

    @Override
    public @Nullable Object get() {
      throw new UnsupportedOperationException();
    }

    @Override
    public @Nullable Object get(long limit, TimeUnit unit) {
      throw new UnsupportedOperationException();
    }

    @Override
    public long getDelay(TimeUnit unit) {
      return unit.convert(time - System.nanoTime(), TimeUnit.NANOSECONDS);
    }

    @Override
    public int compareTo(Delayed other) {
      return Long.compare(getDelay(TimeUnit.NANOSECONDS), other.getDelay(TimeUnit.NANOSECONDS));
    }
  }

  /** Adds a timer. If this method throws for lack of memory, no timer was added. */
  ScheduledFuture<?> add(Runnable command, long delay) {
    return addAt(command, System.nanoTime() + Math.clamp(delay, 0, Long.MAX_VALUE / 2));
  }

  /** Adds a timer for this time of System.nanoTime. */
  ScheduledFuture<?> addAt(Runnable command, long time) {
    var timer = new CarrierTimer(this, command, time == NEVER ? time - 1 : time);
    synchronized (this) {
      if (size == timers.length) timers = Arrays.copyOf(timers, 2 * size);
      moveUp(size++, timer);
      updateNextTime();
    }
    return timer;
  }

  /** Returns how long the first timer has to wait, at least 0; Long.MAX_VALUE without timers. */
  long nanosToNext() {
    long time = nextTime;
    return time == NEVER ? NEVER : Math.max(0, time - System.nanoTime());
  }

  /** Returns whether the first timer was due at this time. */
  boolean isDue(long now) {
    long time = nextTime;
    return time != NEVER && time - now <= 0;
  }

  boolean isEmpty() {
    return nextTime == NEVER;
  }

  /** Runs timers that are due, up to {@code max}. */
  void runDue(int max) {
    long now = System.nanoTime();
    for (int count = 0; count < max && isDue(now); count++) {
      var command = takeDue(now);
      if (command != null) command.run();
    }
  }

  private synchronized @Nullable Runnable takeDue(long now) {
    if (!isDue(now)) return null;
    var timer = timers[0];
    remove(timer);
    var command = timer.command;
    timer.command = null;
    return command;
  }

  // ---- the heap, under the monitor

  private void remove(CarrierTimer timer) {
    int index = timer.index;
    timer.index = CarrierTimer.NOWHERE;
    var last = timers[--size];
    timers[size] = null;
    if (last != timer) {
      moveDown(index, last);
      if (timers[index] == last) moveUp(index, last);
    }
    updateNextTime();
  }

  private void updateNextTime() {
    nextTime = size == 0 ? NEVER : timers[0].time;
  }

  private void moveUp(int start, CarrierTimer timer) {
    int index = start;
    while (index > 0) {
      int parent = index - 1 >>> CHILDREN_SHIFT;
      if (timers[parent].time - timer.time <= 0) break;
      put(index, timers[parent]);
      index = parent;
    }
    put(index, timer);
  }

  private void moveDown(int start, CarrierTimer timer) {
    int index = start;
    while (true) {
      int first = (index << CHILDREN_SHIFT) + 1;
      if (first >= size) break;
      int earliest = first;
      int end = Math.min(size, first + (1 << CHILDREN_SHIFT));
      for (int child = first + 1; child < end; child++)
        if (timers[child].time - timers[earliest].time < 0) earliest = child;
      if (timer.time - timers[earliest].time <= 0) break;
      put(index, timers[earliest]);
      index = earliest;
    }
    put(index, timer);
  }

  private void put(int index, CarrierTimer timer) {
    timers[index] = timer;
    timer.index = index;
  }
}
