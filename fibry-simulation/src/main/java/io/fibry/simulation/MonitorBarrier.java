package io.fibry.simulation;

import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/**
 * Waits until the JVM has woken all virtual threads that a monitor has let go. Since Java 24 a JVM
 * thread does that, late and at random. So two virtual threads contend for a monitor of ours: the
 * JVM wakes the second thread after all threads that were released before it. It does so in
 * batches, and the first round may end a batch in which one of them is still to come; hence a
 * second round.
 *
 * <p>Used by the carrier only, between two steps.
 */
final class MonitorBarrier implements Executor {
  private final Object monitor = new Object();
  private final Semaphore woken = new Semaphore(0);
  /**
   * The next step. The carrier writes it, or the JVM's thread before it releases the semaphore.
   */
  private volatile @Nullable Runnable next;
  /** The carrier, while it waits here. Read by the JVM's thread. */
  private volatile @Nullable Thread carrier;

  /** Called by the carrier when a thread starts or yields, by the JVM's thread when it is woken. */
  @Override
  public void execute(Runnable runnable) {
    next = runnable;
    if (Thread.currentThread() != carrier) woken.release();
  }

  /** Returns when each virtual thread that a monitor had let go has been given to its scheduler. */
  void settle() {
    carrier = Thread.currentThread();
    runRound();
    runRound();
  }

  private void runRound() {
    VirtualThreadInternals.builder(this).start(() -> holdMonitor(true));
    step(); // to the yield
    var owner = next;
    VirtualThreadInternals.builder(this).start(() -> holdMonitor(false));
    step(); // to the monitor
    next = owner;
    step(); // leaves the monitor, and so tells the JVM's thread
    woken.acquireUninterruptibly();
    step(); // to its end
  }

  private void holdMonitor(boolean yielding) {
    synchronized (monitor) {
      if (yielding) Thread.yield();
    }
  }

  private void step() {
    var runnable = next;
    if (runnable == null) throw new IllegalStateException("a thread was started and not given to its scheduler");
    runnable.run();
  }
}
