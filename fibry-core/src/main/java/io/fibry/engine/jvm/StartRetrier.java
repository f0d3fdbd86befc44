package io.fibry.engine.jvm;

import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * The one place that repeats starts and other work that failed for lack of memory or stack. A
 * thread starts a fiber for each task, until the start succeeds. Work that throws on its fiber is
 * added again. Adding a start allocates no memory.
 *
 * <p>No start is missed once the thread runs. {@code add} fills a slot and then unparks the thread.
 * The thread checks all slots before it parks, and an unpark in between makes that park return at
 * once. If the system refuses even this thread, the start waits in its slot for the next
 * {@code add}, which tries to start the thread again. All slots can be full, because one sender
 * without memory may strand thousands of actors; {@code add} then waits. A slot stays empty once
 * the fiber of its start has begun, before the actor does anything. So the wait for an empty slot
 * ends when memory is available.
 */
final class StartRetrier {
  private static final int SLOTS = 1024;
  private static final long PAUSE = 5_000_000; // ns between two rounds, so that work that always fails costs little

  /**
   * A record, not a lambda: a lambda that is first linked without stack or memory may fail for
   * ever.
   */
  private record RepeatedWork(StartRetrier retrier, Rescuable work) implements Runnable {
    @Override
    public void run() {
      retrier.runOrRetry(work);
    }
  }

  private final AtomicReferenceArray<Object> pendingStarts = new AtomicReferenceArray<>(SLOTS);
  private final Executor fibers;
  private final Consumer<Thread> threadStarter;
  private final Thread thread;

  StartRetrier(Executor fibers, Consumer<Thread> threadStarter) {
    this.fibers = fibers;
    this.threadStarter = threadStarter;
    this.thread = DaemonThreads.unstarted("fibry-rescue", this::loop);
    putIntoSlot(this); // links the code now, because a thread with little stack left could not
    pendingStarts.set(0, null);
    tryStartThread(); // now, because without memory it could not start
  }

  void add(Runnable task) {
    retryLater(task);
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
    while (!putIntoSlot(start)) Thread.onSpinWait(); // a park of a virtual thread may need memory
    if (thread.getState() == Thread.State.NEW) tryStartThread();
    LockSupport.unpark(thread);
  }

  /** Returns false if all slots are full. */
  private boolean putIntoSlot(Object start) {
    for (int slot = 0; slot < SLOTS; slot++)
      if (pendingStarts.get(slot) == start || pendingStarts.compareAndSet(slot, null, start)) return true;
    return false;
  }

  private void tryStartThread() {
    try {
      threadStarter.accept(thread);
    } catch (IllegalThreadStateException alreadyStarted) { // another thread has started it
    } catch (OutOfMemoryError noThread) { // the next `add` tries again
    }
  }

  private void loop() {
    while (true) {
      try {
        if (retryAll()) pause();
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

  /** Tries a start, and puts it into a slot again if it fails. */
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
