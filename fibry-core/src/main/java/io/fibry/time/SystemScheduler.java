package io.fibry.time;

import io.fibry.engine.world.Environment;
import io.fibry.text.Durations;
import java.security.AccessController;
import java.security.PrivilegedAction;
import java.time.Duration;
import java.util.Objects;
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
 * Runs all tasks on one thread, the timer thread, which has a sorted set of timers. Other threads
 * pass timers to the timer thread through its inbox, without a lock. With a timer queue of the JDK,
 * a StackOverflowError in one of these threads could leave the queue locked, and stop all timers of
 * the process.
 *
 * <p><b>No timer is missed.</b> The creator of a timer adds it to the inbox, and then reads
 * {@code isSleeping} and {@code wakeUpAt}. The timer thread writes {@code wakeUpAt} and
 * {@code isSleeping}, and then checks whether the inbox is empty. So the creator wakes the timer
 * thread, or the timer thread finds the timer.
 *
 * <p><b>Every cancelled timer leaves the queue.</b> The cancelling thread closes the timer and then
 * reads {@code isSeen}. The timer thread writes {@code isSeen} and then reads whether the timer is
 * open. So the cancelling thread adds the timer to the inbox again, or the timer thread sees that
 * it is closed.
 */
final class SystemScheduler extends TaskScheduler implements Runnable {
  static final SystemScheduler INSTANCE = new SystemScheduler();
  private static final int CANCELS_PER_WAKE_UP = 256; // one cancel in 256 makes the timer thread empty its inbox

  // the time of this clock 36 years after the start of the process
  private final long reference = System.nanoTime() + MAX_DELAY / 4;
  // timers that were set or cancelled, and that the timer thread has not processed yet
  final ConcurrentLinkedQueue<QueuedTask> inbox = new ConcurrentLinkedQueue<>();
  final SortedBlocks<QueuedTask> queue = new SortedBlocks<>(); // used by the timer thread only
  // null until the first timer is set
  private final AtomicReference<Thread> timerThread = new AtomicReference<>();
  private final AtomicInteger cancelCount = new AtomicInteger();
  // set by the timer thread after `wakeUpAt`, and cleared when it wakes; read by threads that set a
  // timer
  private volatile boolean isSleeping;
  private volatile long wakeUpAt; // when the timer thread's sleep ends, in ns by its clock
  private final Runnable starter = new TimerThreadStarter(); // made in advance, because memory may run out later
  private final PrivilegedAction<Thread> threadMaker = // made in advance, too; null from Java 24 on
      Runtime.version().feature() < 24 ? new TimerThreadMaker() : null;

  SystemScheduler() {}

  @Override
  public long nanoTime() {
    return System.nanoTime();
  }

  @Override
  public Timer scheduleAt(long time, Runnable task) {
    if (Environment.simulated != null) return start(task, Math.max(0, time - System.nanoTime()), 0);
    return startAt(limited(time), task, 0);
  }

  @Override
  Timer start(Runnable task, long delay, long period) {
    var simulation = Environment.simulated;
    Scheduler clock = simulation == null ? this : simulation.<Scheduler>instanceFor(this, () -> this);
    if (clock != this) return start(clock, task, Duration.ofNanos(delay), period);
    return startAt(System.nanoTime() + delay, task, period);
  }

  private Timer startAt(long dueAt, Runnable task, long period) {
    var timer = new QueuedTask(Objects.requireNonNull(task, "task"), dueAt, period);
    timer.enqueue();
    return timer;
  }

  /**
   * Returns the nearest time from 36 years before the start of the process to 146 years after it.
   * So the difference of two times in the queue does not overflow. Reads no clock, because each
   * read took a fifth of the time of setting a timer.
   */
  private long limited(long time) {
    return reference + Math.clamp(time - reference, -MAX_DELAY / 2, MAX_DELAY / 4 * 3);
  }

  private static Timer start(Scheduler clock, Runnable task, Duration delay, long period) {
    if (period == 0) return clock.schedule(delay, task);
    var interval = Duration.ofNanos(Math.abs(period));
    return period > 0 ? clock.scheduleAtFixedRate(delay, interval, task)
        : clock.scheduleWithFixedDelay(delay, interval, task);
  }

  /** Waits for the future itself, so no timer is set. */
  @Override
  public boolean awaitDone(CompletableFuture<?> future, Duration limit) throws InterruptedException {
    try {
      future.get(Durations.nanos(limit), TimeUnit.NANOSECONDS);
    } catch (TimeoutException timeout) {
      return false;
    } catch (ExecutionException | CancellationException failure) {} // the future is completed, too
    return true;
  }

  /**
   * Returns the timer thread. If it does not exist yet, starts a helper thread that makes the timer
   * thread, and returns null. The current thread does not make and start the timer thread itself:
   * if its stack overflowed between the two steps, the timer thread would never start. The helper
   * is not a fiber, because other fibers may hold all carriers.
   */
  private Thread ensureTimerThread() {
    var thread = timerThread.get();
    if (thread == null) Thread.ofPlatform().daemon().inheritInheritableThreadLocals(false).start(starter);
    return thread;
  }

  /**
   * Makes and starts the timer thread, unless it exists. The timer thread never ends. Before Java
   * 24, a thread keeps the class loaders of its creator's stack in memory, unless a privileged
   * action makes the thread.
   */
  @SuppressWarnings("removal")
  private void startTimerThread() {
    var thread = threadMaker == null ? makeTimerThread() : AccessController.doPrivileged(threadMaker);
    if (!timerThread.compareAndSet(null, thread)) return;
    try {
      thread.start();
    } catch (Throwable noThread) {
      timerThread.set(null); // the next timer tries again
      throw noThread;
    }
  }

  private Thread makeTimerThread() {
    return Thread.ofPlatform().daemon().inheritInheritableThreadLocals(false).name("fibry-timer").unstarted(this);
  }

  /** The loop of the timer thread. */
  @Override
  public void run() {
    while (true) {
      try {
        runDue();
      } catch (Throwable failure) {
        // memory is exhausted: the next run of the loop tries again
      }
    }
  }

  private void runDue() {
    if (isSleeping) isSleeping = false;
    // clears the interrupt flag that a task may have set, because other tasks must not see the
    // flag, and the park below would return at once
    Thread.interrupted();
    processInbox();
    long now = System.nanoTime();
    var nextTimer = queue.first();
    if (nextTimer != null && nextTimer.dueAt - now <= 0) {
      queue.removeFirst();
      nextTimer.run();
      return;
    }
    wakeUpAt = nextTimer == null ? now + Long.MAX_VALUE / 2 : nextTimer.dueAt;
    isSleeping = true;
    if (!inbox.isEmpty()) return;
    if (nextTimer == null) LockSupport.park(this);
    else LockSupport.parkNanos(this, nextTimer.dueAt - now);
  }

  /**
   * Adds the open timers of the inbox to the queue, and removes the cancelled timers from the
   * queue.
   */
  void processInbox() {
    for (var timer = inbox.peek(); timer != null; timer = inbox.peek()) {
      timer.isSeen = true;
      if (timer.isOpen()) queue.add(timer);
      else queue.remove(timer);
      inbox.poll(); // last: if memory is exhausted before this, the next call tries again
    }
  }

  private final class TimerThreadStarter implements Runnable {
    @Override
    public void run() {
      startTimerThread();
    }
  }

  private final class TimerThreadMaker implements PrivilegedAction<Thread> {
    @Override
    public Thread run() {
      return makeTimerThread();
    }
  }

  final class QueuedTask extends ScheduledTask implements Comparable<QueuedTask> {
    private static final AtomicInteger NUMBERS = new AtomicInteger();

    private final int number = NUMBERS.incrementAndGet(); // the order of tasks due at the same time
    private volatile boolean isSeen; // false -> true by the timer thread, when it takes this from the inbox

    QueuedTask(Runnable task, long dueAt, long period) {
      super(SystemScheduler.this, task, dueAt, period);
    }

    @Override
    void enqueue() {
      inbox.add(this);
      var thread = ensureTimerThread();
      if (isSleeping && dueAt - wakeUpAt < 0) LockSupport.unpark(thread);
    }

    @Override
    void dequeue() {
      if (isSeen) inbox.add(this);
      if (cancelCount.incrementAndGet() % CANCELS_PER_WAKE_UP == 0) LockSupport.unpark(timerThread.get());
    }

    @Override
    public int compareTo(QueuedTask other) {
      long difference = dueAt - other.dueAt;
      return difference != 0 ? Long.signum(difference) : Integer.compare(number, other.number);
    }
  }
}
