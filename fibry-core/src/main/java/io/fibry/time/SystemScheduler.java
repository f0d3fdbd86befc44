package io.fibry.time;

import io.fibry.engine.world.Environment;
import io.fibry.text.Durations;
import java.security.AccessController;
import java.security.PrivilegedAction;
import java.time.Duration;
import java.util.Objects;
import java.util.TreeSet;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/**
 * One thread with a sorted set of timers. Other threads use its inbox, without a lock: in the JDK's
 * timer heap a StackOverflowError of theirs would stop all timers of the process.
 *
 * <p>No timer is missed: its creator adds it to the inbox and then reads {@code until}; the timer
 * thread writes {@code until} and then looks into the inbox.
 *
 * <p>No canceled timer stays: the canceling thread closes it and then reads {@code seen}; the timer
 * thread writes {@code seen} and then reads whether the timer is open. So one of them notices the
 * other.
 */
final class SystemScheduler extends TaskScheduler {
  static final SystemScheduler INSTANCE = new SystemScheduler();
  private static final int LEFTOVERS = 256; // cancelled timers that wake the thread

  // timers set or cancelled
  final ConcurrentLinkedQueue<QueuedTask> inbox = new ConcurrentLinkedQueue<>();
  final TreeSet<QueuedTask> queue = new TreeSet<>(); // the timer thread's own
  // null until the first timer
  private final AtomicReference<Thread> thread = new AtomicReference<>();
  private final AtomicInteger cancelled = new AtomicInteger();
  private volatile boolean asleep; // written by the timer thread, after `until`
  private volatile long until; // the end of its sleep
  // linked while there is memory: later it may fail, for ever
  private final Runnable settling = this::settleIn;
  private final Runnable loop = this::loop;
  private final PrivilegedAction<Thread> maker = this::make;

  SystemScheduler() {}

  @Override
  public long nanoTime() {
    return System.nanoTime();
  }

  @Override
  public Timer scheduleAt(long time, Runnable task) {
    return start(task, Math.max(0, time - System.nanoTime()), 0);
  }

  @Override
  Timer start(Runnable task, long delay, long period) {
    var other = Environment.simulated;
    Scheduler here = other == null ? this : other.<Scheduler>instanceFor(this, () -> this);
    if (here != this) return start(here, task, Duration.ofNanos(delay), period);
    var due = new QueuedTask(Objects.requireNonNull(task, "task"), delay, period);
    due.enqueue();
    return due;
  }

  private static Timer start(Scheduler clock, Runnable task, Duration delay, long period) {
    if (period == 0) return clock.schedule(delay, task);
    var time = Duration.ofNanos(Math.abs(period));
    return period > 0 ? clock.scheduleAtFixedRate(delay, time, task) : clock.scheduleWithFixedDelay(delay, time, task);
  }

  /** Without a timer. */
  @Override
  public boolean awaitDone(CompletableFuture<?> future, Duration limit) throws InterruptedException {
    try {
      future.get(Durations.nanos(limit), TimeUnit.NANOSECONDS);
    } catch (TimeoutException late) {
      return false;
    } catch (ExecutionException | CancellationException failed) {} // done all the same
    return true;
  }

  /**
   * Returns null while the timer thread is being made, by a thread with an empty stack: a failure
   * at the end of this thread's stack would leave a timer thread that never starts. No fiber makes
   * it, since other fibers may hold all carriers.
   */
  private Thread thread() {
    var only = thread.get();
    if (only == null) Thread.ofPlatform().daemon().inheritInheritableThreadLocals(false).start(settling);
    return only;
  }

  /**
   * Before Java 24 a new thread keeps the class loaders of its creator, unless privileged, and the
   * timer thread never ends.
   */
  @SuppressWarnings("removal")
  private void settleIn() {
    var made = Runtime.version().feature() < 24 ? AccessController.doPrivileged(maker) : maker.run();
    if (!thread.compareAndSet(null, made)) return;
    try {
      made.start();
    } catch (Throwable noThread) {
      thread.set(null); // the next timer tries again
      throw noThread;
    }
  }

  private Thread make() {
    return Thread.ofPlatform().daemon().inheritInheritableThreadLocals(false).name("fibry-timer").unstarted(loop);
  }

  private void loop() {
    while (true) {
      try {
        runDue();
      } catch (Throwable failure) {
        // out of memory
      }
    }
  }

  private void runDue() {
    if (asleep) asleep = false;
    Thread.interrupted(); // set by a task: others must not see it, and it would not sleep
    settle();
    long now = System.nanoTime();
    var first = queue.isEmpty() ? null : queue.first();
    if (first != null && first.at - now <= 0) {
      queue.pollFirst();
      first.run();
      return;
    }
    until = first == null ? now + Long.MAX_VALUE / 2 : first.at;
    asleep = true;
    if (!inbox.isEmpty()) return;
    if (first == null) LockSupport.park(this);
    else LockSupport.parkNanos(this, first.at - now);
  }

  void settle() {
    for (var due = inbox.peek(); due != null; due = inbox.peek()) {
      due.seen = true;
      if (due.open()) queue.add(due);
      else queue.remove(due);
      inbox.poll(); // last: without memory, the next turn tries again
    }
  }

  final class QueuedTask extends ScheduledTask implements Comparable<QueuedTask> {
    private static final AtomicInteger MADE = new AtomicInteger();

    private final int number = MADE.incrementAndGet();
    private volatile boolean seen; // by the timer thread

    QueuedTask(Runnable task, long delay, long period) {
      super(SystemScheduler.this, task, delay, period);
    }

    @Override
    void enqueue() {
      inbox.add(this);
      var sleeper = thread();
      if (asleep && at - until < 0) LockSupport.unpark(sleeper);
    }

    @Override
    void dequeue() {
      if (seen) inbox.add(this);
      if (cancelled.incrementAndGet() % LEFTOVERS == 0) LockSupport.unpark(thread.get());
    }

    @Override
    public int compareTo(QueuedTask other) {
      long later = at - other.at;
      return later != 0 ? Long.signum(later) : Integer.compare(number, other.number);
    }
  }
}
