package io.fibry.engine.jvm;

import java.util.concurrent.Executor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Starts threads, and lets them wait for a moment. A new thread inherits nothing, or Bob's message
 * could run as Alice.
 */
public final class EngineThreads {
  private static final long YIELDING = 10_000_000; // ns
  private static final StartRetrier START_RETRIER = new StartRetrier(EngineThreads::startFiber);
  private static final FiberStarter FIBER_STARTER =
      new FiberStarter(starter(Thread.ofVirtual().inheritInheritableThreadLocals(false).factory()), START_RETRIER::add,
          FiberStarter.FETCH_TIMEOUT);
  private static final Executor PLATFORM =
      starter(Thread.ofPlatform().daemon().inheritInheritableThreadLocals(false).name("fibry-", 0).factory());

  static {
    // initializes the JDK's classes of fibers: at the edge of a stack, they could fail for ever
    LockSupport.unpark(Thread.ofVirtual().unstarted(() -> {}));
  }

  private EngineThreads() {}

  private static Executor starter(ThreadFactory threads) {
    return task -> threads.newThread(task).start();
  }

  public static void startFiber(Runnable task) {
    FIBER_STARTER.start(task);
  }

  /** Rescues the actor on a fiber, as soon as there is memory for one. */
  public static void rescue(Rescuable actor) {
    START_RETRIER.add(actor);
  }

  /** Starts the task on a fiber, as soon as there is memory for one. Allocates nothing. */
  static void startLater(Runnable task) {
    START_RETRIER.add(task);
  }

  public static void startPlatformThread(Runnable task) {
    PLATFORM.execute(task);
  }

  /** On a fiber: starts a task that waits for one, if any. */
  public static void startPendingTask() {
    FIBER_STARTER.startPending();
  }

  /**
   * Lets other fibers run. While each carrier has a fiber that only yields, tasks of platform
   * threads never begin (Java 25). A park frees the carrier; it costs some 50 µs, so it comes once
   * in 10 ms.
   *
   * @param parked the result of the last call, at first 0
   */
  public static long yieldToOthers(long parked) {
    FIBER_STARTER.startPending();
    long now = System.nanoTime();
    if (parked == 0) parked = now;
    if (now - parked < YIELDING) {
      leaveCarrier(0);
      return parked;
    }
    leaveCarrier(1);
    return System.nanoTime();
  }

  /** A fiber at the end of its stack cannot, and spins. */
  private static void leaveCarrier(long nanos) {
    try {
      if (nanos == 0) Thread.yield();
      else LockSupport.parkNanos(nanos);
    } catch (StackOverflowError deep) {
      Thread.onSpinWait();
    }
  }

  /**
   * Waits for a moment, longer with each try; from the 97th on it parks, which frees the carrier.
   * Returns true if it cleared the interrupt flag, which prevents parks. The caller must set the
   * flag again.
   */
  public static boolean pause(int tries) {
    boolean interrupted = false;
    if (tries < 64) Thread.onSpinWait();
    else if (tries < 96) leaveCarrier(0);
    else {
      interrupted = Thread.interrupted();
      leaveCarrier(Math.min(1_000_000L, 20_000L << Math.min(6, tries - 96)));
    }
    return interrupted;
  }

  /** Pauses at most {@code maxTries} times; keeps the interrupt flag. */
  public static void pauseWhile(BooleanSupplier condition, int maxTries) {
    boolean interrupted = false;
    for (int tries = 0; tries < maxTries && condition.getAsBoolean(); tries++) interrupted |= pause(tries);
    if (interrupted) Thread.currentThread().interrupt();
  }
}
