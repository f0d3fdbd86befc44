package io.fibry.support;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

class PaceTest {
  /** Waits for these seconds of real time; returns the time of Pace divided by the real time. */
  private static double measureSpeed(int seconds) {
    long paceStart = Pace.nanoTime(), realStart = System.nanoTime();
    while (System.nanoTime() - realStart < TimeUnit.SECONDS.toNanos(seconds)) LockSupport.parkNanos(1_000_000);
    return (double) (Pace.nanoTime() - paceStart) / (System.nanoTime() - realStart);
  }

  @Test
  void clockNeverRunsFasterThanRealTime() {
    measureSpeed(1); // until the measuring thread has begun
    assertTrue(measureSpeed(2) < 1.7, "Pace counted more than one measurement (half a second) too much");
  }

  @Test
  void busyProcessorsSlowClock() {
    var stop = new AtomicBoolean();
    var threads = new ArrayList<Thread>();
    for (int i = 0; i < 4 * Runtime.getRuntime().availableProcessors(); i++)
      threads.add(Thread.ofPlatform().daemon().start(() -> {
        while (!stop.get()) Thread.onSpinWait();
      }));
    try {
      Patience.eventually("a second counts as a second beside four busy threads for each processor",
          () -> measureSpeed(1) < 0.8);
    } finally {
      stop.set(true);
      threads.forEach(Patience::awaitEnd);
    }
  }
}
