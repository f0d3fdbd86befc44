package io.fibry.engine.jvm;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.support.Patience;
import io.fibry.testing.StressRuns;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class CoarseClockTest {
  @Test
  void coarseClockIsNeverAheadOfSystemClock() {
    for (int i = 0; i < 100_000; i++) {
      long time = CoarseClock.systemTime();
      assertTrue(time != 0 && time - System.nanoTime() <= 0);
    }
  }

  /**
   * Each reader must see the clock advance, even if the clock's thread is about to stop the clock
   * at that moment.
   */
  @Test
  void coarseClockAdvancesForReadersWhileItsThreadStops() {
    long seed = StressRuns.seed();
    System.out.println("coarse clock: -Dfibry.seed=" + seed);
    var clock = new CoarseClock(Duration.ofNanos(50_000), 2); // stops after two updates, until the next read
    var random = new SplittableRandom(seed);
    var testEnded = new AtomicBoolean();
    var readers = IntStream.range(0, 3).mapToObj(i -> random.split()).map(readerRandom -> Patience.startFiber(() -> {
      while (!testEnded.get()) {
        clock.nanoTime();
        LockSupport.parkNanos(readerRandom.nextInt(300_000));
      }
    })).toList();
    try {
      for (int round = 0; round < 300; round++) {
        long time = clock.nanoTime();
        Patience.eventually(() -> clock.nanoTime() - time > 0);
        if (random.nextBoolean()) LockSupport.parkNanos(random.nextInt(300_000));
      }
    } finally { // otherwise the readers would continue
      testEnded.set(true);
    }
    readers.forEach(Patience::awaitEnd);
  }
}
