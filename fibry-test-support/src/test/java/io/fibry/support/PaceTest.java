package io.fibry.support;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

class PaceTest {
  /** Waits for some seconds of the machine; returns the time of this clock as a share of it. */
  private static double share(int seconds) {
    long pace = Pace.nanoTime(), machine = System.nanoTime();
    while (System.nanoTime() - machine < TimeUnit.SECONDS.toNanos(seconds)) LockSupport.parkNanos(1_000_000);
    return (double) (Pace.nanoTime() - pace) / (System.nanoTime() - machine);
  }

  @Test
  void clockNeverRunsFasterThanTheMachine() {
    share(1); // until the measuring thread has begun
    assertTrue(share(2) < 1.7, "one look of half a second more at most");
  }

  @Test
  void busyProcessorsSlowTheClock() {
    var stop = new AtomicBoolean();
    var busy = new ArrayList<Thread>();
    for (int i = 0; i < 4 * Runtime.getRuntime().availableProcessors(); i++)
      busy.add(Thread.ofPlatform().daemon().start(() -> {
        while (!stop.get()) Thread.onSpinWait();
      }));
    try {
      Patience.eventually("a second counts as a second beside four busy threads for each processor",
          () -> share(1) < 0.8);
    } finally {
      stop.set(true);
      busy.forEach(Patience::joined);
    }
  }
}
