package io.fibry.engine.jvm;

import io.fibry.engine.world.Environment;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A task that begins even if no carrier is free, or no fiber can be made: the end of a wait, the
 * news of an end. A fiber begins it; if none has after {@link #LATE_AFTER}, a platform thread does.
 *
 * <p>It runs once, by its claim. It is never forgotten: {@code start} has it watched.
 */
public final class GuaranteedStart extends AtomicBoolean implements Runnable { // false -> true: claimed
  private static final long serialVersionUID = 1;
  private static final Duration LATE_AFTER = Duration.ofMillis(50);
  private static final LateTaskWatch PROCESS = new LateTaskWatch();

  private transient Runnable task; // null once claimed
  private transient boolean seen; // by a look; the timer's thread only

  GuaranteedStart(Runnable task) {
    this.task = task;
  }

  /** Where it throws, the task does not run. */
  public static void start(Runnable task) {
    StackProbe.probe(); // where this throws, the task must not start
    var assured = new GuaranteedStart(task);
    var watch = watch();
    watch.tasks.add(assured);
    try {
      EngineThreads.startFiber(assured);
    } catch (Throwable noThread) { // a look will find one
    }
    try {
      watch.arm();
    } catch (Throwable noMemory) {
      if (assured.compareAndSet(false, true)) throw noMemory; // so it never runs
    }
  }

  private static LateTaskWatch watch() {
    var other = Environment.simulated;
    return other == null ? PROCESS : other.instanceFor(PROCESS, LateTaskWatch::new);
  }

  @Override
  public void run() {
    if (!compareAndSet(false, true)) return;
    var claimed = task;
    task = null;
    claimed.run();
  }

  /**
   * Starts late tasks on platform threads, as long as there are tasks. No task is forgotten.
   * {@code start} adds the task and then reads {@code armed}; a look clears {@code armed} and then
   * reads the tasks. Each look starts one more thread for late tasks, so a task that hangs delays
   * the tasks behind it by one look only.
   */
  private static final class LateTaskWatch implements Rescuable {
    private static final int MAX_THREADS = 64;

    final ConcurrentLinkedQueue<GuaranteedStart> tasks = new ConcurrentLinkedQueue<>();
    private final ConcurrentLinkedQueue<GuaranteedStart> late = new ConcurrentLinkedQueue<>();
    private final AtomicInteger helpers = new AtomicInteger(); // platform threads for late tasks
    private final AtomicBoolean armed = new AtomicBoolean(); // a look will come
    private final Runnable look = this::checkTasks; // linked while there is memory: see Dispatch
    private final Runnable help = this::runLate;

    void arm() {
      if (armed.get() || !armed.compareAndSet(false, true)) return;
      try {
        Scheduler.system().schedule(LATE_AFTER, look);
      } catch (Throwable noMemory) {
        armed.set(false); // the next start tries again
        throw noMemory;
      }
    }

    private void armAgain() {
      try {
        arm();
      } catch (Throwable noMemory) {
        EngineThreads.rescue(this);
      }
    }

    @Override
    public void rescue() {
      armAgain();
    }

    private void checkTasks() {
      armed.set(false);
      try {
        sort();
        if (!late.isEmpty()) startHelper();
      } finally { // also without memory
        if (!tasks.isEmpty() || !late.isEmpty()) armAgain();
      }
    }

    private void sort() {
      for (var each = tasks.iterator(); each.hasNext();) {
        var one = each.next();
        if (one.seen && !one.get()) late.add(one);
        if (one.seen || one.get()) each.remove();
        one.seen = true;
      }
    }

    private void startHelper() {
      if (helpers.incrementAndGet() <= MAX_THREADS) {
        try {
          EngineThreads.startPlatformThread(help);
          return;
        } catch (Throwable noThread) { // the next look tries again
        }
      }
      helpers.decrementAndGet();
    }

    private void runLate() {
      try {
        for (var one = late.poll(); one != null; one = late.poll()) one.run();
      } finally {
        helpers.decrementAndGet();
      }
    }
  }
}
