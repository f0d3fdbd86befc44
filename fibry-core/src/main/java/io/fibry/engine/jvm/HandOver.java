package io.fibry.engine.jvm;

import io.fibry.engine.world.Environment;

/**
 * Lets a fiber run the actor that it has woken, which costs two atomic operations. Starting a new
 * fiber costs ten times as much. The woken actor's drain lies in a slot until its waker's drain is
 * through. The woken actor gets a fiber of its own if the waker takes another message, wakes
 * another actor, or is about to wait. Where the waker blocks or computes in user code, the
 * {@link HandOverMonitor} starts it.
 *
 * <p>There are a few slots for all fibers, by the thread's number. Two fibers may share one, and
 * take what the other laid: any fiber may run a drain. A drain in a slot is never lost. It leaves
 * by one atomic operation, and the thread that took it runs it, starts it, or keeps it for the last
 * resort. If the fiber that laid it dies, the monitor finds it.
 */
public final class HandOver {
  private static final HandOverSlots SLOTS = new HandOverSlots(4 * Runtime.getRuntime().availableProcessors());
  private static final HandOverMonitor MONITOR = new HandOverMonitor(SLOTS, HandOver::start);
  private static final ClassLoader LOADER = ClassLoader.getSystemClassLoader();

  private HandOver() {}

  /**
   * For a fiber that runs a drain. Returns false if the woken actor must be started. So in a
   * simulation, whose drains the monitor, a thread of the process, must not start.
   */
  public static boolean offer(WokenDrain woken) {
    if (Environment.simulated != null || !MONITOR.ensureStarted()) return false;
    var before = SLOTS.put(woken);
    if (before != null) start(before);
    MONITOR.wake();
    return true;
  }

  /** Starts what lies in the slot of this fiber. */
  public static void startHandedOver() {
    var laid = SLOTS.take();
    if (laid != null) start(laid);
  }

  private static void start(WokenDrain drain) {
    try {
      EngineThreads.startFiber(drain);
    } catch (Throwable noThread) {
      EngineThreads.startLater(drain);
    }
  }

  /** Runs on a fiber: a drain, then the actor that it woke, and so on. */
  public static void run(WokenDrain first) {
    var now = first;
    var slice = new TimeSlice(); // then others come to the carrier
    while (now.runOnce()) {
      var next = SLOTS.take();
      if (next == null) return;
      if (slice.isOver()) {
        start(next);
        return;
      }
      now.leaveThread();
      resetThread(Thread.currentThread());
      now = next;
    }
  }

  /** Resets the thread to the condition of a new fiber, except for thread-locals. */
  private static void resetThread(Thread fiber) {
    if (!fiber.getName().isEmpty()) fiber.setName("");
    if (fiber.getContextClassLoader() != LOADER) fiber.setContextClassLoader(LOADER);
  }
}
