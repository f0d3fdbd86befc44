package io.fibry.support;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

class PaceTest {
  /**
   * Waits for this number of seconds of real time. Returns the time that Pace counted, divided by
   * the real time.
   */
  private static double measureSpeed(int seconds) {
    long paceStart = Pace.nanoTime(), realStart = System.nanoTime();
    while (System.nanoTime() - realStart < TimeUnit.SECONDS.toNanos(seconds)) LockSupport.parkNanos(1_000_000);
    return (double) (Pace.nanoTime() - paceStart) / (System.nanoTime() - realStart);
  }

  /** Waits until Pace counts more time. Returns the real time of the last check before that. */
  private static long awaitCount() {
    long lastCheck = System.nanoTime();
    for (long pace = Pace.nanoTime();;) {
      long check = System.nanoTime();
      if (Pace.nanoTime() != pace) return lastCheck;
      lastCheck = check;
      LockSupport.parkNanos(1_000_000);
    }
  }

  /** Pace counts twice a second, so the measurement begins and ends when it counts. */
  @Test
  void clockNeverRunsFasterThanRealTime() {
    long realStart = awaitCount(), paceStart = Pace.nanoTime();
    for (int i = 0; i < 4; i++) awaitCount();
    double speed = (double) (Pace.nanoTime() - paceStart) / (System.nanoTime() - realStart);

    assertTrue(speed < 1.1, "the speed of Pace is " + speed);
  }

  @Test
  void clockRunsSlowerWhileProcessorsAreBusy() {
    var stop = new AtomicBoolean();
    var threads = new ArrayList<Thread>();
    for (int i = 0; i < 4 * Runtime.getRuntime().availableProcessors(); i++)
      threads.add(Thread.ofPlatform().daemon().start(() -> {
        while (!stop.get()) Thread.onSpinWait();
      }));
    try {
      Patience.eventually("Pace counts full seconds, although four busy threads per processor run",
          () -> measureSpeed(1) < 0.8);
    } finally {
      stop.set(true);
      threads.forEach(Patience::awaitEnd);
    }
  }
}
