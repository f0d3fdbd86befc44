package io.fibry.engine.jvm;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.StressHarness;
import io.fibry.support.Patience;
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
      long seen = CoarseClock.systemTime();
      assertTrue(seen != 0 && seen - System.nanoTime() <= 0);
    }
  }

  /** It moves as long as somebody reads it, whenever its thread was about to sleep. */
  @Test
  void coarseClockMovesForEachReader() {
    long seed = StressHarness.seed();
    System.out.println("coarse clock: -Dfibry.seed=" + seed);
    var clock = new CoarseClock(Duration.ofNanos(50_000), 2); // it stops after two moves
    var random = new SplittableRandom(seed);
    var over = new AtomicBoolean();
    var readers = IntStream.range(0, 3).mapToObj(i -> random.split()).map(own -> Patience.startFiber(() -> {
      while (!over.get()) {
        clock.nanoTime();
        LockSupport.parkNanos(own.nextInt(300_000));
      }
    })).toList();
    for (int round = 0; round < 300; round++) {
      long seen = clock.nanoTime();
      Patience.eventually(() -> clock.nanoTime() - seen > 0);
      if (random.nextBoolean()) LockSupport.parkNanos(random.nextInt(300_000));
    }
    over.set(true);
    readers.forEach(Patience::joined);
  }
}
