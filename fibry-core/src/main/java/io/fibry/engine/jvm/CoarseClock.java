package io.fibry.engine.jvm;

import io.fibry.engine.world.Environment;
import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * About what time it is by {@link System#nanoTime}, for the price of a read of memory: each message
 * notes when it began. A thread moves it while somebody reads it. Every second it stops the clock
 * and sleeps until the next reader, so a program that does nothing is left alone.
 *
 * <p>The field {@code now} is 0 while the clock is stopped. Only a reader changes 0, and it unparks
 * the thread. Only the thread changes another value. So the thread, which parks while it sees 0,
 * cannot miss a reader.
 */
public final class CoarseClock implements Runnable {
  /** How late it is at most, in nanoseconds; longer while its thread gets no processor. */
  public static final long PERIOD = 20_000_000;

  private static final long RETRY = 1_000_000_000; // ns

  private static final VarHandle NOW = ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), "now",
      VarHandle.class, CoarseClock.class, long.class);
  private static final CoarseClock SYSTEM = new CoarseClock(Duration.ofNanos(PERIOD), 50);

  private final Duration period;
  private final int most; // ticks before the clock is stopped
  private volatile long now;
  private volatile Thread mover; // null -> one, under the monitor
  private long nextTry = System.nanoTime(); // to start it; under the monitor

  CoarseClock(Duration period, int most) {
    this.period = period;
    this.most = most;
  }

  /** {@return a time that is never ahead of the system's clock, or 0 if none is known} */
  public static long systemTime() {
    return SYSTEM.nanoTime();
  }

  long nanoTime() {
    long seen = now;
    return seen != 0 ? seen : begin();
  }

  private long begin() {
    if (Environment.simulated != null) return 0; // a simulation has no threads of its own
    StackProbe.probe(); // a thread that changes 0 must be able to unpark
    long time = time();
    var thread = mover != null ? mover : startMover();
    if (thread != null && NOW.compareAndSet(this, 0, time)) LockSupport.unpark(thread);
    return time;
  }

  private static long time() {
    long time = System.nanoTime();
    return time == 0 ? -1 : time; // 0 means that the clock is stopped
  }

  /**
   * {@return the thread, or null if there is no memory for it; each reader then looks at the
   * system's clock}
   */
  private synchronized Thread startMover() {
    if (mover != null || System.nanoTime() - nextTry < 0) return mover;
    nextTry = System.nanoTime() + RETRY;
    try {
      var thread = DaemonThreads.unstarted("fibry-clock", this);
      thread.start();
      return mover = thread;
    } catch (OutOfMemoryError noThread) {
      return null;
    }
  }

  @Override
  public void run() {
    while (true) {
      while (now == 0) {
        LockSupport.park(this);
        Thread.interrupted(); // otherwise it would not park again
      }
      move();
    }
  }

  private void move() {
    try {
      for (int moves = 0; moves < most; moves++) {
        LockSupport.parkNanos(this, period.toNanos());
        Thread.interrupted();
        now = time();
      }
    } catch (Throwable noMemory) { // the next reader begins it again
    } finally {
      now = 0;
    }
  }
}
