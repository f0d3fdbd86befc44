package io.fibry.engine.jvm;

import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * Repeats starts that failed because memory or stack was exhausted. A start is a task or rescuable
 * work that needs a fiber. All such retries of the engine are made here. A thread tries to start a
 * fiber for each task, until the start succeeds. Work that throws on its fiber is added again.
 * Adding a start allocates no memory.
 *
 * <p>No start is missed once the thread runs. {@code add} fills a slot and then unparks the thread.
 * The thread checks all slots before it parks, and an unpark in between makes that park return at
 * once. {@code add} also unparks the thread before it fills the slot, so a stack that is too small
 * for the unpark overflows before the slot is filled. If the system refuses even this thread, the
 * start waits in its slot for the next {@code add}, which tries to start the thread again. All
 * slots can be full, because one sender without memory may strand thousands of actors; {@code add}
 * then waits. The thread empties a slot before it starts the fiber, and fills a slot again only if
 * no fiber could be started. So the wait for an empty slot ends when memory is available.
 */
final class StartRetrier implements Runnable, Consumer<Runnable> {
  private static final int SLOTS = 1024;
  private static final long PAUSE = 5_000_000; // ns between two rounds, so that work that always fails costs little
  // After this number of failures (about a second) the work is logged, once
  private static final int FAILURES_BEFORE_LOG = 200;

  /**
   * Work that has failed. A class, not a lambda: if stack or memory runs out while the JVM links a
   * lambda for the first time, that lambda may fail forever.
   */
  private static final class RepeatedWork implements Runnable {
    private final StartRetrier retrier;
    private final Rescuable work;
    private int failureCount; // used by one fiber at a time

    RepeatedWork(StartRetrier retrier, Rescuable work) {
      this.retrier = retrier;
      this.work = work;
    }

    @Override
    public void run() {
      try {
        work.rescue();
      } catch (Throwable failure) {
        boolean mustLog = ++failureCount == FAILURES_BEFORE_LOG; // before another fiber may run this work
        retrier.add(this);
        if (mustLog)
          EngineLog.log().error("{} has failed {} times; it will be repeated until it succeeds", work,
              FAILURES_BEFORE_LOG, failure);
      }
    }
  }

  private final AtomicReferenceArray<Object> pendingStarts = new AtomicReferenceArray<>(SLOTS);
  private final Executor fibers;
  private final Consumer<Thread> threadStarter;
  private final Thread thread;
  // False -> true by the first `add`, before it fills a slot. Until then the thread scans no slots,
  // because a scan takes longer than most of a JVM's start
  private volatile boolean isUsed;

  private static final class ThreadStarter implements Consumer<Thread> {
    @Override
    public void accept(Thread thread) {
      thread.start();
    }
  }

  StartRetrier(Executor fibers) {
    this(fibers, new ThreadStarter());
  }

  StartRetrier(Executor fibers, Consumer<Thread> threadStarter) {
    this.fibers = fibers;
    this.threadStarter = threadStarter;
    this.thread = DaemonThreads.unstarted("fibry-rescue", this);
    // links the code now, because a thread with little stack could not link it
    for (int i = 0; i < 2; i++) putIntoSlot(this);
    pendingStarts.set(0, null);
    tryStartThread(); // now, because without memory it could not start
  }

  void add(Runnable task) {
    retryLater(task);
  }

  @Override
  public void accept(Runnable task) {
    add(task);
  }

  void add(Rescuable work) {
    retryLater(work);
  }

  /** Does the work on this thread, and adds it if it throws. */
  void runOrRetry(Rescuable work) {
    try {
      work.rescue();
    } catch (Throwable exhausted) {
      add(work);
    }
  }

  private void retryLater(Object start) {
    isUsed = true;
    LockSupport.unpark(thread); // first: if this call overflows the stack, no slot is filled
    while (!putIntoSlot(start)) Thread.onSpinWait(); // a park of a virtual thread may need memory
    if (thread.getState() == Thread.State.NEW) tryStartThread();
    LockSupport.unpark(thread);
  }

  /**
   * Puts the start into an empty slot, unless its work is already in a slot. Returns false if all
   * slots are full.
   */
  private boolean putIntoSlot(Object start) {
    for (int slot = 0; slot < SLOTS; slot++) {
      Object pending = pendingStarts.get(slot);
      if (pending == null ? pendingStarts.compareAndSet(slot, null, start) : work(pending) == work(start)) return true;
    }
    return false;
  }

  private static Object work(Object start) {
    return start instanceof RepeatedWork repeated ? repeated.work : start;
  }

  private void tryStartThread() {
    try {
      threadStarter.accept(thread);
    } catch (IllegalThreadStateException alreadyStarted) { // another thread has started it
    } catch (OutOfMemoryError noThread) { // the next `add` tries again
    }
  }

  /** The loop of the thread. */
  @Override
  public void run() {
    while (true) {
      try {
        if (isUsed && retryAll()) pause();
        else LockSupport.park();
        Thread.interrupted();
      } catch (Throwable failure) {} // no memory: the remaining starts stay in their slots
    }
  }

  /** Waits for the whole pause, even if {@code add} unparks the thread. */
  private static void pause() {
    long start = System.nanoTime();
    for (long passed = 0; passed < PAUSE; passed = System.nanoTime() - start) LockSupport.parkNanos(PAUSE - passed);
  }

  /** Tries all pending starts. Returns whether there were any. */
  private boolean retryAll() {
    boolean hasStarts = false;
    for (int slot = 0; slot < SLOTS; slot++) {
      Object start = pendingStarts.getAndSet(slot, null); // emptied first, because the start may be added again
      if (start == null) continue;
      hasStarts = true;
      tryStart(start);
    }
    return hasStarts;
  }

  /** Tries a start. If the try fails, puts the start into a slot again. */
  private void tryStart(Object start) {
    while (true) try {
      fibers.execute(start instanceof Rescuable work ? new RepeatedWork(this, work) : (Runnable) start);
      return;
    } catch (Throwable noThread) {
      if (putIntoSlot(start)) return;
      LockSupport.parkNanos(PAUSE); // other starts have filled all slots
    }
  }
}
