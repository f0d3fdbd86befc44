package io.fibry.simulation.run;

import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/**
 * Waits until the JVM has woken all virtual threads that may continue after waiting for a monitor.
 * Since Java 24, a thread of the JVM wakes them at an unpredictable time. Therefore two virtual
 * threads contend for a monitor of this class. The JVM wakes the second thread after all threads
 * that were released before it. But the JVM wakes threads in batches. The first round may end in a
 * batch in which an earlier thread is not woken yet, so there is a second round.
 *
 * <p>Used by the carrier only, between two steps.
 */
final class WakeUpBarrier implements Executor {
  private final Object monitor = new Object();
  private final Semaphore wakeUps = new Semaphore(0);
  /**
   * The next step of one of the two threads. Written by the carrier, or by the JVM's thread before
   * it releases the semaphore.
   */
  private volatile @Nullable Runnable nextStep;
  /** The carrier, which writes this field in {@link #settle}; read by the JVM's thread. */
  private volatile @Nullable Thread carrier;

  /**
   * Called when one of the two threads can run. The carrier calls it when the thread starts or
   * yields, and the JVM's thread when it wakes the thread from the monitor.
   */
  @Override
  public void execute(Runnable step) {
    nextStep = step;
    if (Thread.currentThread() != carrier) wakeUps.release();
  }

  /**
   * Waits until all virtual threads that were released by a monitor before this call were given to
   * their schedulers.
   */
  void settle() {
    carrier = Thread.currentThread();
    runRound();
    runRound();
  }

  private void runRound() {
    VirtualThreadInternals.builder(this).start(() -> holdMonitor(true));
    runStep(); // the first thread takes the monitor, and yields
    var ownerStep = nextStep;
    VirtualThreadInternals.builder(this).start(() -> holdMonitor(false));
    runStep(); // the second thread waits for the monitor
    nextStep = ownerStep;
    runStep(); // the first thread leaves the monitor, so the JVM's thread wakes the second
    wakeUps.acquireUninterruptibly();
    runStep(); // the second thread ends
  }

  private void holdMonitor(boolean isYielding) {
    synchronized (monitor) {
      if (isYielding) Thread.yield();
    }
  }

  private void runStep() {
    var step = nextStep;
    if (step == null) throw new IllegalStateException("a thread was started and not given to its scheduler");
    step.run();
  }
}
