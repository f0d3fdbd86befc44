package io.fibry.engine.jvm;

import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;

/**
 * Keeps what must not be lost while there is no memory or stack for anything else: tasks for
 * fibers, and actors whose right to run is stranded. A thread tries again until it succeeds. To
 * keep something allocates nothing.
 *
 * <p>Nothing is slept through: {@code keep} fills a slot, then unparks; the thread looks through
 * all slots before it parks, and an unpark in between makes that park return at once.
 */
public final class LastResort {
  /** Has something to be rescued, on a fiber. */
  public interface Stranded {
    void rescue();
  }

  private static final int SLOTS = 1024; // far more than threads can fail at once
  private static final long PAUSE = 5_000_000; // ns between two tries
  private static final AtomicReferenceArray<Object> KEPT = new AtomicReferenceArray<>(SLOTS);
  private static final Thread THREAD = // its object exists before there is no memory
      Thread.ofPlatform().daemon().inheritInheritableThreadLocals(false).name("fibry-rescue")
          .unstarted(LastResort::loop);

  private LastResort() {}

  public static void keep(Runnable task) {
    put(task);
  }

  public static void keep(Stranded actor) {
    put(actor);
  }

  private static void put(Object one) {
    int slot = 0;
    while (slot < SLOTS && KEPT.get(slot) != one && !KEPT.compareAndSet(slot, null, one)) slot++;
    if (THREAD.getState() == Thread.State.NEW) startThread();
    LockSupport.unpark(THREAD);
  }

  private static void startThread() {
    try {
      THREAD.start();
    } catch (IllegalThreadStateException started) { // by another thread
    }
  }

  private static void loop() {
    while (true) {
      try {
        if (isTried()) LockSupport.park();
        else LockSupport.parkNanos(PAUSE);
        Thread.interrupted();
      } catch (Throwable failure) {} // of memory: as above
    }
  }

  /** Tries all; true: none is left. */
  private static boolean isTried() {
    boolean none = true;
    for (int slot = 0; slot < SLOTS; slot++) {
      Object one = KEPT.getAndSet(slot, null); // first: it may be kept again at once
      if (one != null) none &= isStarted(one);
    }
    return none;
  }

  private static boolean isStarted(Object one) {
    try {
      Threads.startFiber(one instanceof Runnable task ? task : ((Stranded) one)::rescue);
      return true;
    } catch (Throwable noThread) {
      put(one);
      return false;
    }
  }
}
