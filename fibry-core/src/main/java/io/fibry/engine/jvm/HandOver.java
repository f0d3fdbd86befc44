package io.fibry.engine.jvm;

import io.fibry.engine.world.Environment;
import java.util.function.Consumer;

/**
 * Lets a fiber run the actor that its handler has woken. Used only with the JDK's scheduler: the
 * carriers of fibry-carriers run a woken actor without a new thread. A hand-over costs two atomic
 * operations; starting a new fiber costs ten times as much. The drain of the woken actor waits in a
 * slot until the drain of its waker has ended. The woken actor gets a fiber of its own if the waker
 * takes another message, wakes another actor, or is about to wait. If the waker blocks or computes
 * in user code, the {@link HandOverMonitor} starts the drain.
 *
 * <p>All fibers share a few slots; the thread id of a fiber selects its slot. Two fibers may share
 * a slot and take each other's drains. That is harmless: any fiber may run any drain. No drain in a
 * slot is lost. A drain leaves the slot by one atomic operation, and the thread that took the drain
 * runs it, starts it, or passes it to the {@link StartRetrier}. If the fiber that placed the drain
 * dies, the monitor finds the drain.
 */
public final class HandOver {
  private static final HandOverSlots SLOTS = new HandOverSlots(4 * Runtime.getRuntime().availableProcessors());
  private static final HandOverMonitor MONITOR = new HandOverMonitor(SLOTS, new DrainStarter());
  private static final ClassLoader SYSTEM_LOADER = ClassLoader.getSystemClassLoader();

  private static final class DrainStarter implements Consumer<WokenDrain> {
    @Override
    public void accept(WokenDrain drain) {
      start(drain);
    }
  }

  private HandOver() {}

  /**
   * Called on a fiber that runs a drain: places the woken drain in the slot of the fiber. Returns
   * false if the caller must start the woken drain: the carriers of fibry-carriers need no slots,
   * and the monitor may fail to start. In a simulation, the monitor's real thread must not start
   * drains.
   */
  public static boolean offer(WokenDrain wokenDrain) {
    if (EngineThreads.usesCarriers() || Environment.simulated != null || !MONITOR.ensureStarted()) return false;
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

  /**
   * Runs the drain of the actor that the first drain has woken, and so on. Called on a fiber after
   * it has run the first drain. The caller runs this first drain itself, because a fiber that
   * sleeps in its handler keeps all frames in memory.
   */
  public static void runWoken(WokenDrain firstDrain) {
    var drain = firstDrain;
    TimeSlice slice = null; // when it is over, other fibers get the carrier; null until a drain was woken
    do {
      var next = SLOTS.take();
      if (next == null) return;
      if (slice == null) slice = new TimeSlice();
      if (slice.isOver()) {
        start(next);
        return;
      }
      drain.leaveThread();
      resetThread(Thread.currentThread());
      drain = next;
    } while (drain.runOnce());
  }

  /**
   * Gives the thread the name and the class loader of a new fiber. {@code leaveThread} has cleared
   * the interrupt flag; thread-locals stay.
   */
  private static void resetThread(Thread fiber) {
    if (!fiber.getName().isEmpty()) fiber.setName("");
    if (fiber.getContextClassLoader() != SYSTEM_LOADER) fiber.setContextClassLoader(SYSTEM_LOADER);
  }
}
