package io.fibry.engine.jvm;

import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A task that begins even if no carrier is free, or no fiber can be made: the end of a wait, the
 * news of an end. A fiber begins it; if none has after {@link #PATIENCE}, a platform thread does.
 *
 * <p>It runs once, by its claim. It is never forgotten: {@code start} adds it to WATCHED, then
 * reads ARMED; a look clears ARMED, then reads WATCHED. Each look starts one more thread for late
 * tasks, so those behind one that hangs wait for one look.
 */
public final class Assured extends AtomicBoolean implements Runnable { // false -> true: claimed
  private static final long serialVersionUID = 1;
  private static final Duration PATIENCE = Duration.ofMillis(50);
  private static final int MOST_THREADS = 64;
  private static final ConcurrentLinkedQueue<Assured> WATCHED = new ConcurrentLinkedQueue<>();
  private static final ConcurrentLinkedQueue<Assured> LATE = new ConcurrentLinkedQueue<>();
  private static final AtomicInteger HELPERS = new AtomicInteger(); // platform threads for LATE
  private static final AtomicBoolean ARMED = new AtomicBoolean(); // a look will come

  private transient Runnable task; // null once claimed
  private transient boolean seen; // by a look; the timer's thread only

  Assured(Runnable task) {
    this.task = task;
  }

  /** Where it throws, the task does not run. */
  public static void start(Runnable task) {
    StackProbe.probe(); // where this throws, the task must not start
    var assured = new Assured(task);
    WATCHED.add(assured);
    try {
      Threads.startFiber(assured);
    } catch (Throwable noThread) { // a look will find one
    }
    try {
      arm();
    } catch (Throwable noMemory) {
      if (assured.compareAndSet(false, true)) throw noMemory; // so it never runs
    }
  }

  @Override
  public void run() {
    if (!compareAndSet(false, true)) return;
    var claimed = task;
    task = null;
    claimed.run();
  }

  private static void arm() {
    if (ARMED.get() || !ARMED.compareAndSet(false, true)) return;
    try {
      Scheduler.system().after(PATIENCE, Assured::look);
    } catch (Throwable noMemory) {
      ARMED.set(false); // the next start tries again
      throw noMemory;
    }
  }

  private static void look() {
    ARMED.set(false);
    for (var each = WATCHED.iterator(); each.hasNext();) {
      var one = each.next();
      if (one.seen && !one.get()) LATE.add(one);
      if (one.seen || one.get()) each.remove();
      one.seen = true;
    }
    if (!LATE.isEmpty()) startHelper();
    if (!WATCHED.isEmpty() || !LATE.isEmpty()) arm();
  }

  private static void startHelper() {
    if (HELPERS.incrementAndGet() <= MOST_THREADS) {
      try {
        Threads.startPlatformThread(Assured::help);
        return;
      } catch (Throwable noThread) { // the next look tries again
      }
    }
    HELPERS.decrementAndGet();
  }

  private static void help() {
    try {
      for (var late = LATE.poll(); late != null; late = LATE.poll()) late.run();
    } finally {
      HELPERS.decrementAndGet();
    }
  }
}
