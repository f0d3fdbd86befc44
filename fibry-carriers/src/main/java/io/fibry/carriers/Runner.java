package io.fibry.carriers;

import io.fibry.engine.carrier.CarriedDrain;
import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;

/**
 * A virtual thread that runs the drains of actors, one after the other.
 *
 * <p>A runner takes drains from the queue of the carrier on which it is mounted, as long as the
 * next entry of the queue is a drain, up to a limit. After that it parks, and waits among the
 * carrier's spare runners. If a handler blocks, the runner's virtual thread leaves the carrier, and
 * the carrier runs its next entry with another runner. So there is one virtual thread for each
 * handler that is blocked now, and a few spare runners.
 *
 * <p><b>States.</b> A runner is running (also while its handler is blocked), or spare, or ended. A
 * spare runner is in the list of one carrier. That carrier takes it from the list, sets {@code
 * nextDrain}, and unparks it.
 *
 * <p><b>Memory order.</b> A stray unpark may come from a thread that has kept a reference to this
 * thread. Such an unpark can wake a spare runner. It can also leave a permit, so that the carrier's
 * own unpark has no effect. So the carrier writes {@code nextDrain} and then reads the permit in
 * its unpark. The runner consumes the permit and then reads {@code nextDrain}. The permit and
 * {@code nextDrain} both have volatile semantics, so either the unpark continues the runner, or the
 * running runner sees its drain. The runner clears {@code nextDrain} by a release write, because
 * the carrier writes the field only after the runner is spare again.
 *
 * <p><b>No leaks.</b> Between two drains, a runner resets the name, class loader and interrupt flag
 * of its thread. {@code leaveThread} first waits for a killer that is about to interrupt the
 * thread. Thread-locals stay, as on any pool. A spare runner refers to no actor.
 */
final class Runner implements Runnable {
  private static final int MAX_DRAINS = 64; // drains in a row; then the carrier looks for other entries
  private static final long MAX_DRAIN_NANOS = 1_000_000; // ns of drains in a row
  private static final int CLOCK_INTERVAL = 8; // drains between two reads of the clock
  private static final ClassLoader SYSTEM_LOADER = ClassLoader.getSystemClassLoader();
  private static final VarHandle NEXT_DRAIN = ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), "nextDrain",
      VarHandle.class, Runner.class, CarriedDrain.class);

  /** Ends a runner that gets it as its first drain; any other runner skips it. */
  private static final CarriedDrain END = new CarriedDrain() {
    @Override
    public boolean runOnce() {
      return false;
    }

    @Override
    public void run() {}

    @Override
    public void leaveThread() {}

    @Override
    public void forgetHandler() {}
  };

  private final CarrierPool pool;
  private final Thread thread;
  private volatile CarriedDrain nextDrain; // set by the carrier that starts or continues this runner; null if taken
  private int drainCount; // drains in a row
  private long batchStart; // nanoTime of a drain in this row; 0 before the first read of the clock

  private Runner(CarrierPool pool, CarriedDrain firstDrain) {
    this.pool = pool;
    this.nextDrain = firstDrain;
    this.thread = JvmAccess.newThread(pool, this);
  }

  /** Starts a new runner. Called by a carrier, which gets the thread's continuation. */
  static void start(CarrierPool pool, CarriedDrain firstDrain) {
    new Runner(pool, firstDrain).thread.start();
  }

  /**
   * Starts a runner that ends at once, so that the classes of runners are initialized while there
   * is memory.
   */
  static void warmUp(CarrierPool pool) {
    pool.run(END);
  }

  /** Continues this spare runner. Called by a carrier, which gets the thread's continuation. */
  void resume(CarriedDrain drain) {
    nextDrain = drain;
    unpark();
  }

  /** Ends this spare runner. */
  void end() {
    resume(END);
  }

  /**
   * Has a small frame, because a handler that blocks keeps it in memory. While this runner is
   * spare, the frame refers to no drain.
   */
  @Override
  public void run() {
    var drain = awaitDrain(false);
    while (drain != null) {
      drain = drainAfter(drain, drain.runOnce());
      if (drain == null) drain = awaitDrain(true);
    }
  }

  /**
   * Takes the next drain that a carrier sets. Returns null if this runner must end.
   *
   * @param asSpare whether this runner must first join the spare runners of its carrier
   */
  private CarriedDrain awaitDrain(boolean asSpare) {
    if (asSpare && !pool.carrier().addSpareRunner(this)) return null;
    while (nextDrain == null) await();
    var drain = nextDrain;
    NEXT_DRAIN.setRelease(this, null);
    drainCount = 0;
    batchStart = 0;
    return drain == END ? null : drain;
  }

  private void await() {
    try {
      LockSupport.park(this);
      Thread.interrupted(); // otherwise the next park would return at once
    } catch (Throwable noMemory) { // the carrier has this runner in its list, so it must not end
      Thread.onSpinWait();
    }
  }

  /** Called by {@code resume}, and by the {@link CarrierWatch} at any time, which is harmless. */
  void unpark() {
    LockSupport.unpark(thread);
  }

  /**
   * Returns the next drain of the carrier's queue. Returns null if the next entry is no drain, or a
   * limit is reached.
   *
   * @param hasRun whether this runner has run the drain; otherwise another thread has
   */
  private CarriedDrain drainAfter(CarriedDrain drain, boolean hasRun) {
    if (hasRun) resetThreadAfter(drain);
    boolean isOver = ++drainCount == MAX_DRAINS;
    if (drainCount % CLOCK_INTERVAL == 0) {
      long now = System.nanoTime();
      if (batchStart == 0) batchStart = now;
      isOver |= now - batchStart > MAX_DRAIN_NANOS;
    }
    var next = isOver ? null : pool.carrier().takeDrain(); // the carrier that runs this thread now
    if (next != null && next != END) return next;
    drain.forgetHandler();
    return null;
  }

  private void resetThreadAfter(CarriedDrain drain) {
    drain.leaveThread();
    if (!thread.getName().isEmpty()) thread.setName("");
    if (thread.getContextClassLoader() != SYSTEM_LOADER) thread.setContextClassLoader(SYSTEM_LOADER);
  }
}
