package io.fibry.store.folder;

import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;

/**
 * Leaves the disk to others for three quarters of the time. Used by one thread; other threads may
 * ask it to hurry.
 */
final class DiskThrottle {
  static final int WORK_BYTES = 1 << 20; // bytes from one rest to the next
  private static final int REST_FACTOR = 3; // times as long as the work

  private final LongSupplier nanoTime;
  private final LongConsumer sleep; // for so many nanoseconds, or shorter
  private volatile Thread thread; // written by itself, read by others
  private volatile boolean isHurried; // written by others
  private long workStart;
  private long workNanos; // nanoseconds since the last rest
  private long bytes; // likewise

  DiskThrottle(LongSupplier nanoTime, LongConsumer sleep) {
    this.nanoTime = nanoTime;
    this.sleep = sleep;
  }

  /** Time before this call was no work. */
  void begin() {
    thread = Thread.currentThread();
    workStart = nanoTime.getAsLong();
  }

  /** Rests, if that was enough. */
  void recordWork(int more) {
    bytes += more;
    workNanos += nanoTime.getAsLong() - workStart;
    if (bytes >= WORK_BYTES) {
      rest(REST_FACTOR * workNanos);
      bytes = 0;
      workNanos = 0;
    }
    workStart = nanoTime.getAsLong();
  }

  private void rest(long nanos) {
    long begun = nanoTime.getAsLong();
    for (long left = nanos; left > 0 && !isHurried; left = nanos - (nanoTime.getAsLong() - begun)) {
      Thread.interrupted(); // it would end each sleep at once
      sleep.accept(left);
    }
  }

  /** Called by any thread: it does not rest from now on. */
  void hurry() {
    isHurried = true;
    LockSupport.unpark(thread);
  }
}
