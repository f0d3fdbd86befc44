package io.fibry.support;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

class PaceTest {
  /** Waits for one second of this clock; returns its time as a share of the machine's. */
  private static double share() {
    long pace = Pace.nanoTime(), machine = System.nanoTime();
    while (Pace.nanoTime() - pace < TimeUnit.SECONDS.toNanos(1)) LockSupport.parkNanos(1_000_000);
    return (double) (Pace.nanoTime() - pace) / (System.nanoTime() - machine);
  }

  @Test
  void clockNeverRunsFasterThanTheMachine() {
    share(); // the first look counts from an earlier reading
    assertTrue(share() < 1.5, "one look of a quarter of a second more at most");
  }

  @Test
  void busyProcessorsSlowTheClock() {
    var stop = new AtomicBoolean();
    var busy = new ArrayList<Thread>();
    for (int i = 0; i < 8 * Runtime.getRuntime().availableProcessors(); i++)
      busy.add(Thread.ofPlatform().daemon().start(() -> {
        while (!stop.get()) Thread.onSpinWait();
      }));
    try {
      share();
      double crowded = share();
      assertTrue(crowded < 0.8, "with eight busy threads for each processor a second counts as " + crowded);
    } finally {
      stop.set(true);
      busy.forEach(Patience::joined);
    }
  }
}
