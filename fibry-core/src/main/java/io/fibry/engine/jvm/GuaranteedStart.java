package io.fibry.engine.jvm;

import io.fibry.engine.world.Environment;
import java.time.Duration;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A task, such as the notification of an actor's end, that begins even if no carrier is free or no
 * fiber can be made. A fiber runs the task. If no fiber has begun the task after one to two periods
 * of {@link #LATE_AFTER}, a platform thread runs it.
 *
 * <p>The task runs once, on the first thread that claims it. No task is forgotten, because
 * {@code start} adds each task to a {@link LateTaskWatch}.
 */
public final class GuaranteedStart extends AtomicBoolean implements Runnable { // true once claimed
  private static final long serialVersionUID = 1;
  private static final Duration LATE_AFTER = Duration.ofMillis(50);
  private static final LateTaskWatch PROCESS_WATCH = new LateTaskWatch();

  private transient Runnable task; // null once claimed
  private transient boolean wasChecked; // whether a check has seen this task; used by the timer's thread only

  GuaranteedStart(Runnable task) {
    this.task = task;
  }

  /** Starts the task. If this method throws, the task does not run. */
  public static void start(Runnable task) {
    StackProbe.probe(); // before the task is added, because a task whose start throws must not run
    var start = new GuaranteedStart(task);
    var watch = watch();
    watch.tasks.add(start);
    try {
      EngineThreads.startFiber(start);
    } catch (Throwable noThread) { // a later check runs the task on a platform thread
    }
    try {
      watch.check.schedule();
    } catch (Throwable noMemory) {
      if (start.compareAndSet(false, true)) throw noMemory; // claimed, so that it never runs
    }
  }

  private static LateTaskWatch watch() {
    var simulation = Environment.simulated;
    return simulation == null ? PROCESS_WATCH : simulation.instanceFor(PROCESS_WATCH, LateTaskWatch::new);
  }

  @Override
  public void run() {
    if (!compareAndSet(false, true)) return;
    var claimedTask = task;
    task = null;
    claimedTask.run();
  }

  /**
   * Starts late tasks on platform threads until no task is left. Each check that finds late tasks
   * starts one more thread for them, so a task that hangs delays the tasks behind it by one check
   * only.
   */
  private static final class LateTaskWatch implements Runnable {
    private static final int MAX_THREADS = 64;

    final ConcurrentLinkedQueue<GuaranteedStart> tasks = new ConcurrentLinkedQueue<>();
    private final ConcurrentLinkedQueue<GuaranteedStart> lateTasks = new ConcurrentLinkedQueue<>();
    private final AtomicInteger helperCount = new AtomicInteger(); // number of platform threads for late tasks
    final SharedCheck check = new SharedCheck(LATE_AFTER, this);
    private final Runnable helper = new LateTaskRunner(); // made now, because it may be needed when memory is exhausted

    /** Checks the tasks. */
    @Override
    public void run() {
      try {
        moveLateTasks();
        if (!lateTasks.isEmpty()) startHelper();
      } finally { // also after an OutOfMemoryError
        if (!tasks.isEmpty() || !lateTasks.isEmpty()) check.scheduleEventually();
      }
    }

    /**
     * Moves the unclaimed tasks that an earlier check has seen to {@code lateTasks}, and removes
     * the claimed tasks.
     */
    private void moveLateTasks() {
      for (var iterator = tasks.iterator(); iterator.hasNext();) {
        var task = iterator.next();
        if (task.wasChecked && !task.get()) lateTasks.add(task);
        if (task.wasChecked || task.get()) iterator.remove();
        task.wasChecked = true;
      }
    }

    private void startHelper() {
      if (helperCount.incrementAndGet() <= MAX_THREADS) {
        try {
          EngineThreads.startPlatformThread(helper);
          return;
        } catch (Throwable noThread) { // the next check tries again
        }
      }
      helperCount.decrementAndGet();
    }

    /** The code of a platform thread for late tasks. */
    private final class LateTaskRunner implements Runnable {
      @Override
      public void run() {
        try {
          for (var task = lateTasks.poll(); task != null; task = lateTasks.poll()) task.run();
        } finally {
          helperCount.decrementAndGet();
        }
      }
    }
  }
}
