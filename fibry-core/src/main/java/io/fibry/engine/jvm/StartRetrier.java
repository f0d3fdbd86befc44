package io.fibry.engine.jvm;

import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;

/**
 * Keeps what must not be lost while there is no memory or stack for anything else: tasks for
 * fibers, and actors whose right to run is stranded. A thread tries again until it succeeds.
 * Keeping a right to run allocates no memory.
 *
 * <p>No right to run is missed: {@code add} fills a slot and then unparks; the thread looks
 * through all slots before it parks, and an unpark in between makes that park return at once.
 */
final class StartRetrier {
  private static final int SLOTS = 1024; // far more than threads can fail at once
  private static final long PAUSE = 5_000_000; // ns between two tries

  /** No lambda: see Dispatch. */
  private record StrandedTask(Rescuable actor) implements Runnable {
    @Override
    public void run() {
      actor.rescue();
    }
  }

  private final AtomicReferenceArray<Object> kept = new AtomicReferenceArray<>(SLOTS);
  private final Executor fibers;
  private final Thread thread; // exists before there is no memory; started at the first need

  StartRetrier(Executor fibers) {
    new StrandedTask(null); // loads its class while there is memory
    this.fibers = fibers;
    this.thread = DaemonThreads.unstarted("fibry-rescue", this::loop);
  }

  void add(Runnable task) {
    put(task);
  }

  void add(Rescuable actor) {
    put(actor);
  }

  private void put(Object one) {
    store(one);
    if (thread.getState() == Thread.State.NEW) start();
    LockSupport.unpark(thread);
  }

  private void store(Object one) {
    int slot = 0;
    while (slot < SLOTS && kept.get(slot) != one && !kept.compareAndSet(slot, null, one)) slot++;
  }

  private void start() {
    try {
      thread.start();
    } catch (IllegalThreadStateException started) { // by another thread
    }
  }

  private void loop() {
    while (true) {
      try {
        if (retryAll()) LockSupport.park();
        else LockSupport.parkNanos(PAUSE);
        Thread.interrupted();
      } catch (Throwable failure) {} // of memory: the slots keep what is left
    }
  }

  /** Tries all slots, and returns whether none is left. */
  private boolean retryAll() {
    boolean none = true;
    for (int slot = 0; slot < SLOTS; slot++) {
      Object one = kept.getAndSet(slot, null); // first: it may be kept again at once
      if (one != null) none &= tryStart(one);
    }
    return none;
  }

  private boolean tryStart(Object one) {
    try {
      fibers.execute(one instanceof Runnable task ? task : new StrandedTask((Rescuable) one));
      return true;
    } catch (Throwable noThread) {
      store(one); // without an unpark, or the pause would end at once
      return false;
    }
  }
}
