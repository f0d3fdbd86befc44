package io.fibry.engine.jvm;

import io.fibry.engine.world.Environment;

/**
 * Lets a fiber run the actor that it has woken, which costs two atomic operations. Starting a new
 * fiber costs ten times as much. The drain of the woken actor waits in a slot until the drain of
 * its waker has ended. The woken actor gets a fiber of its own if the waker takes another message,
 * wakes another actor, or is about to wait. If the waker blocks or computes in user code, the
 * {@link HandOverMonitor} starts the drain.
 *
 * <p>All fibers share a few slots, chosen by the number of their thread. Two fibers may share a
 * slot and take each other's drains, because any fiber may run a drain. No drain in a slot is lost.
 * It leaves the slot by one atomic operation, and the thread that took it runs it, starts it, or
 * passes it to the {@link StartRetrier}. If the fiber that placed it dies, the monitor finds it.
 */
public final class HandOver {
  private static final HandOverSlots SLOTS = new HandOverSlots(4 * Runtime.getRuntime().availableProcessors());
  private static final HandOverMonitor MONITOR = new HandOverMonitor(SLOTS, HandOver::start);
  private static final ClassLoader LOADER = ClassLoader.getSystemClassLoader();

  private HandOver() {}

  /**
   * Places the woken drain in the slot of this fiber, which runs a drain. Returns false if the
   * caller must start the woken drain, as in a simulation: the monitor, a thread of the process,
   * must not start simulated drains.
   */
  public static boolean offer(WokenDrain wokenDrain) {
    if (Environment.simulated != null || !MONITOR.ensureStarted()) return false;
    var displacedDrain = SLOTS.put(wokenDrain);
    if (displacedDrain != null) start(displacedDrain);
    MONITOR.wake();
    return true;
  }

  /** Starts the drain in the slot of this fiber, if there is one. */
  public static void startHandedOver() {
    var drain = SLOTS.take();
    if (drain != null) start(drain);
  }

  private static void start(WokenDrain drain) {
    try {
      EngineThreads.startFiber(drain);
    } catch (Throwable noThread) {
      EngineThreads.startWhenPossible(drain);
    }
  }

  /** Runs a drain on a fiber, then the drain of the actor that it woke, and so on. */
  public static void run(WokenDrain first) {
    var drain = first;
    var slice = new TimeSlice(); // when it is over, other fibers get the carrier
    while (drain.runOnce()) {
      var next = SLOTS.take();
      if (next == null) return;
      if (slice.isOver()) {
        start(next);
        return;
      }
      drain.leaveThread();
      resetThread(Thread.currentThread());
      drain = next;
    }
  }

  /** Resets the thread to the condition of a new fiber, except for thread-locals. */
  private static void resetThread(Thread fiber) {
    if (!fiber.getName().isEmpty()) fiber.setName("");
    if (fiber.getContextClassLoader() != LOADER) fiber.setContextClassLoader(LOADER);
  }
}
