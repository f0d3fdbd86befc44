package io.fibry.store.folder.compaction;

import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;

/**
 * Pauses a thread so that other threads have the disk for three quarters of the time. Used by one
 * thread; other threads may call {@link #hurry}.
 */
public final class DiskThrottle {
  static final int WORK_BYTES = 1 << 20; // bytes of work between two pauses
  private static final int PAUSE_FACTOR = 3; // the ratio of a pause to the time of the work before it

  private final LongSupplier nanoTime;
  private final LongConsumer sleep; // sleeps for at most the given number of nanoseconds
  private volatile Thread thread; // the working thread, which writes this field; read by other threads
  private volatile boolean isHurried; // no more pauses; written by other threads
  private long workStart; // reading of `nanoTime`
  private long workNanos; // work since the last pause, in nanoseconds
  private long bytes; // work since the last pause, in bytes

  public DiskThrottle(LongSupplier nanoTime, LongConsumer sleep) {
    this.nanoTime = nanoTime;
    this.sleep = sleep;
  }

  /** Starts the measurement of work: the time before this call does not count. */
  void begin() {
    thread = Thread.currentThread();
    workStart = nanoTime.getAsLong();
  }

  /** Counts work in bytes. Pauses after each {@link #WORK_BYTES} of work. */
  void recordWork(int doneBytes) {
    bytes += doneBytes;
    workNanos += nanoTime.getAsLong() - workStart;
    if (bytes >= WORK_BYTES) {
      pause(PAUSE_FACTOR * workNanos);
      bytes = 0;
      workNanos = 0;
    }
    workStart = nanoTime.getAsLong();
  }

  private void pause(long nanos) {
    long start = nanoTime.getAsLong();
    for (long remaining = nanos; remaining > 0 && !isHurried; remaining = nanos - (nanoTime.getAsLong() - start)) {
      Thread.interrupted(); // an interrupt would end each sleep at once
      sleep.accept(remaining);
    }
  }

  /**
   * Called by any thread. Ends the current pause, and lets the working thread continue without
   * pauses from now on.
   */
  void hurry() {
    isHurried = true;
    LockSupport.unpark(thread);
  }
}
