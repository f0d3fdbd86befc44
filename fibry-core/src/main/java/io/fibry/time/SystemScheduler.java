package io.fibry.time;

import java.security.AccessController;
import java.security.PrivilegedAction;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

/** The clock of the machine, over the JDK's timer heap with its one thread. */
final class SystemScheduler implements Scheduler {

  private static final ThreadFactory THREADS = Thread.ofPlatform().daemon().inheritInheritableThreadLocals(false).name("fibry-timer").factory();
  static final SystemScheduler INSTANCE = new SystemScheduler();

  private final ScheduledThreadPoolExecutor heap = new ScheduledThreadPoolExecutor(1, Runtime.version().feature() < 24 ? SystemScheduler::forgetful : THREADS);

  private SystemScheduler() {
    heap.setRemoveOnCancelPolicy(true);
  }

  /** Before Java 24 a thread remembers the class loaders on the stack of whoever happened to start it, and this one never ends. */
  @SuppressWarnings("removal") // of what later versions are not asked for
  private static Thread forgetful(Runnable task) {
    return AccessController.doPrivileged((PrivilegedAction<Thread>) () -> THREADS.newThread(task));
  }

  @Override
  public long nanoTime() {
    return System.nanoTime();
  }

  @Override
  public Timer after(Duration delay, Runnable task) {
    return start(task, Due.delay(delay), 0);
  }

  @Override
  public Timer atFixedRate(Duration initial, Duration period, Runnable task) {
    return start(task, Due.delay(initial), Due.period(period));
  }

  @Override
  public Timer withFixedDelay(Duration initial, Duration delay, Runnable task) {
    return start(task, Due.delay(initial), -Due.period(delay));
  }

  private Timer start(Runnable task, long delay, long period) {
    probe(64, delay, period, delay, period);
    var due = new Queued(Objects.requireNonNull(task, "task"), delay, period);
    due.enqueue();
    return due;
  }

  /** Makes sure that the stack has room for what follows: a StackOverflowError inside the heap's lock would stop every timer of the process. Frames of some size: all four are needed again after the call. */
  private static long probe(int frames, long a, long b, long c, long d) {
    return frames == 0 ? a : probe(frames - 1, b, c, d, a + frames) ^ a ^ b + c ^ d;
  }

  private final class Queued extends Due {
    private volatile Future<?> place; // written by whoever enqueues, read by whoever cancels

    Queued(Runnable task, long delay, long period) {
      super(SystemScheduler.this, task, delay, period);
    }

    @Override
    void enqueue() {
      place = heap.schedule(this, at - System.nanoTime(), TimeUnit.NANOSECONDS);
    }

    @Override
    void dequeue() {
      probe(64, at, at, at, at);
      var queued = place;
      if (queued != null) queued.cancel(false);
    }
  }
}
