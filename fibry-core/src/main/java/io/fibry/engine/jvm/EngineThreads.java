package io.fibry.engine.jvm;

import io.fibry.engine.carrier.CarriedDrain;
import io.fibry.engine.carrier.FiberCarriers;
import io.fibry.engine.world.Environment;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Starts threads, and lets a thread wait for a moment. A new thread inherits no thread-locals,
 * because a message of one user could otherwise run with the identity of another user.
 */
public final class EngineThreads {
  private static final long YIELD_NEAR = -1;
  private static final long PARK_INTERVAL = 10_000_000; // ns between two parks of a fiber that yields
  // null: the JDK's scheduler runs the fibers
  private static final FiberCarriers CARRIERS = OptionalCarriers.find();
  private static final StartRetrier START_RETRIER = new StartRetrier(new FiberExecutor());
  private static final FiberStarter FIBER_STARTER =
      new FiberStarter(new ThreadPerTask(Thread.ofVirtual().inheritInheritableThreadLocals(false).factory()),
          START_RETRIER, FiberStarter.FETCH_TIMEOUT);
  private static final Executor PLATFORM =
      new ThreadPerTask(
          Thread.ofPlatform().daemon().inheritInheritableThreadLocals(false).name("fibry-", 0).factory());

  static {
    // initializes the JDK's classes for fibers now: if the stack overflows at their first use, they
    // fail forever
    LockSupport.unpark(Thread.startVirtualThread(new NoAction()));
  }

  private EngineThreads() {}

  private record ThreadPerTask(ThreadFactory threads) implements Executor {
    @Override
    public void execute(Runnable task) {
      threads.newThread(task).start();
    }
  }

  private static final class FiberExecutor implements Executor {
    @Override
    public void execute(Runnable task) {
      startFiber(task);
    }
  }

  /**
   * Returns whether the optional carriers run the fibers. They take tasks of platform threads even
   * under load, and run a woken actor without a new thread. So with them the engine uses neither
   * the {@link FiberStarter} nor the {@link HandOver}. A simulation has a scheduler of its own.
   */
  static boolean usesCarriers() {
    return CARRIERS != null && Environment.simulated == null;
  }

  /** Starts the task on a fiber of its own. */
  public static void startFiber(Runnable task) {
    if (usesCarriers()) CARRIERS.start(task);
    else FIBER_STARTER.start(task);
  }

  /** Runs the drain of an actor on a fiber, which may run other drains before and after it. */
  public static void startDrain(Runnable drain) {
    if (usesCarriers() && drain instanceof CarriedDrain carried) CARRIERS.run(carried);
    else startFiber(drain);
  }

  /** Returns whether the optional carriers run the thread, or may run it. */
  public static boolean isOnCarriers(Thread thread) {
    return usesCarriers() && thread.isVirtual();
  }

  /**
   * Returns whether the optional carriers run the fibers, and the caller is a virtual thread of
   * another scheduler. If such a thread runs a drain of a fiber, the carriers have lent the drain.
   */
  public static boolean isVirtualThreadOffCarriers() {
    return usesCarriers() && Thread.currentThread().isVirtual() && !CARRIERS.runsCaller();
  }

  /**
   * Returns whether the optional carriers run the fibers, and the caller is a platform thread. So
   * if the caller spins, it keeps no virtual thread from its carrier.
   */
  public static boolean isPlatformThreadBesideCarriers() {
    return usesCarriers() && !Thread.currentThread().isVirtual();
  }

  /**
   * Wakes a carrier if a drain waits for one. Called after {@link
   * #isPlatformThreadBesideCarriers} was true.
   */
  public static void wakeCarrierForEntry() {
    CARRIERS.wakeForEntry();
  }

  /** Unparks the thread, which should continue on the carrier of the caller. */
  public static void unparkNear(Thread thread) {
    if (usesCarriers()) CARRIERS.unparkNear(thread);
    else LockSupport.unpark(thread);
  }

  /** Does the work on this thread. If the work throws, repeats it on fibers until it succeeds. */
  public static void runOrRetry(Rescuable work) {
    START_RETRIER.runOrRetry(work);
  }

  /** Does the work on a fiber, and repeats it until it succeeds. Allocates nothing. */
  public static void rescue(Rescuable work) {
    START_RETRIER.add(work);
  }

  /** Starts the task on a fiber, as soon as memory for it is available. Allocates nothing. */
  static void startWhenPossible(Runnable task) {
    START_RETRIER.add(task);
  }

  public static void startPlatformThread(Runnable task) {
    PLATFORM.execute(task);
  }

  /**
   * Called on a busy fiber. Starts one task that a platform thread has queued, because under load
   * such a task might otherwise never begin (Java 25).
   */
  public static void startPendingTask() {
    FIBER_STARTER.startPending();
  }

  /**
   * Lets other fibers run. While each carrier has a fiber that only yields, tasks of platform
   * threads never begin (Java 25). A park frees the carrier, but costs some 50 µs, so this method
   * parks once in 10 ms and otherwise yields.
   *
   * @param lastPark the result of the last call, at first 0
   * @param isNear whether the fiber should continue on the same carrier
   */
  public static long yieldToOthers(long lastPark, boolean isNear) {
    if (usesCarriers()) { // a yield is enough, because carriers take turns with tasks of platform threads
      leaveCarrier(isNear ? YIELD_NEAR : 0);
      return lastPark;
    }
    FIBER_STARTER.startPending();
    long now = System.nanoTime();
    if (lastPark == 0) lastPark = now;
    if (now - lastPark < PARK_INTERVAL) {
      leaveCarrier(0);
      return lastPark;
    }
    leaveCarrier(1);
    return System.nanoTime();
  }

  /**
   * Lets the entries run that wait for the carrier of this fiber, if it is on our carriers. The
   * fiber then continues there.
   */
  public static void yieldNear() {
    try {
      leaveCarrier(YIELD_NEAR);
    } catch (OutOfMemoryError noMemory) {} // the fiber continues at once
  }

  /**
   * Yields if {@code nanos} is 0 or {@link #YIELD_NEAR}, otherwise parks. Spins if the stack is too
   * small for a yield or park.
   */
  private static void leaveCarrier(long nanos) {
    try {
      if (nanos == 0) Thread.yield();
      else if (nanos == YIELD_NEAR) CARRIERS.yieldNear();
      else LockSupport.parkNanos(nanos);
    } catch (StackOverflowError overflow) {
      Thread.onSpinWait();
    }
  }

  /**
   * Waits for a moment: spins at the first 64 tries, yields at the next 32, then parks, up to 1 ms.
   * A park frees the carrier. Returns true if it cleared the interrupt flag, which would have
   * prevented the park; the caller must then set the flag again.
   */
  public static boolean pause(int tries) {
    boolean wasInterrupted = false;
    if (tries < 64) Thread.onSpinWait();
    else if (tries < 96) leaveCarrier(0);
    else {
      wasInterrupted = Thread.interrupted();
      leaveCarrier(Math.min(1_000_000L, 20_000L << Math.min(6, tries - 96)));
    }
    return wasInterrupted;
  }

  /** Pauses at most {@code maxTries} times; keeps the interrupt flag. */
  public static void pauseWhile(BooleanSupplier condition, int maxTries) {
    boolean wasInterrupted = false;
    for (int tries = 0; tries < maxTries && condition.getAsBoolean(); tries++) wasInterrupted |= pause(tries);
    if (wasInterrupted) Thread.currentThread().interrupt();
  }
}
