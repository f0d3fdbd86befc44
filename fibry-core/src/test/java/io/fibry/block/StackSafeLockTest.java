package io.fibry.block;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.support.Patience;
import io.fibry.support.Soak;
import io.fibry.testing.Promise;
import io.fibry.testing.StackEdge;
import io.fibry.testing.StressRuns;
import java.util.ArrayList;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

@SuppressWarnings("try") // the resource variables of the try statements are never read
class StackSafeLockTest {
  private static final int ROUNDS = Soak.ON ? 2_000 : 8;

  private final StackSafeLock lock = new StackSafeLock(false);
  private int holders; // guarded by the lock
  private int entries;

  @Promise("8.5")
  @Test
  void fiberThatCannotParkLeavesLockQueue() {
    lock.acquire();
    StackEdge.runWhereParkFails(() -> assertThrows(StackOverflowError.class, lock::acquire));
    var waiter = Thread.startVirtualThread(this::enter);
    Patience.awaitParked(waiter);

    lock.close();

    Patience.awaitEnd(waiter);
    assertEquals(1, entries);
  }

  @Promise("8.5")
  @Test
  void fiberThatCannotParkSpinsUntilLockIsFree() {
    var spinningLock = new StackSafeLock(true);
    spinningLock.acquire();
    var arrival = new CountDownLatch(1);
    var holder = Thread.ofPlatform().start(() -> {
      Patience.await(arrival);
      spinningLock.close();
    });

    StackEdge.runWhereParkFails(() -> {
      arrival.countDown();
      try (var hold = spinningLock.acquire()) {
        entries++;
      }
    });

    Patience.awaitEnd(holder);
    assertEquals(1, entries);
  }

  @Test
  void interruptedWaiterKeepsWaitingAndKeepsInterruptFlag() {
    lock.acquire();
    var hasInterruptFlag = new AtomicBoolean();
    var waiter = Thread.ofPlatform().start(() -> {
      enter();
      hasInterruptFlag.set(Thread.interrupted());
    });
    Patience.awaitParked(waiter);

    waiter.interrupt();
    Patience.eventually(() -> !waiter.isInterrupted());
    Patience.awaitParked(waiter);
    lock.close();

    Patience.awaitEnd(waiter);
    assertTrue(hasInterruptFlag.get());
  }

  @Test
  void eachThreadGetsLockAndHoldsItAlone() {
    long seed = StressRuns.seed();
    System.out.println("threads at a lock: -Dfibry.seed=" + seed);
    var random = new SplittableRandom(seed);
    for (int round = 0; round < ROUNDS; round++) {
      entries = 0;
      var threads = new ArrayList<Thread>();
      int entriesPerThread = 1 + random.nextInt(200);
      for (int i = random.nextInt(2, 20); i > 0; i--) {
        var builder = random.nextBoolean() ? Thread.ofVirtual() : Thread.ofPlatform();
        threads.add(builder.start(() -> {
          for (int n = 0; n < entriesPerThread; n++) enter();
        }));
      }
      for (int i = random.nextInt(20); i > 0; i--) threads.get(random.nextInt(threads.size())).interrupt();

      Patience.progress(() -> entries, () -> threads.stream().noneMatch(Thread::isAlive));

      assertEquals(threads.size() * entriesPerThread, entries);
    }
  }

  /**
   * A fiber that cannot park leaves the queue while the holder releases the lock. The release must
   * wake the next thread of the queue.
   */
  @Promise("8.5")
  @Test
  void fiberThatLeavesQueueWakesNextThread() {
    long seed = StressRuns.seed();
    System.out.println("a fiber leaves the queue: -Dfibry.seed=" + seed);
    var random = new SplittableRandom(seed);
    for (int round = 0; round < 20 * ROUNDS; round++) {
      lock.acquire();
      var arrival = new CountDownLatch(1);
      var waiter = Thread.ofPlatform().start(() -> {
        Patience.await(arrival);
        enter();
      });

      int spins = random.nextInt(20_000);
      var holder = Thread.ofPlatform().start(() -> {
        Patience.await(arrival);
        for (int i = 0; i < spins; i++) Thread.onSpinWait();
        lock.close();
      });
      StackEdge.runWhereParkFails(() -> {
        arrival.countDown();
        try (var hold = lock.acquire()) {
          entries++;
        } catch (StackOverflowError overflow) {}
      });

      Patience.awaitEnd(holder);
      Patience.awaitEnd(waiter);
    }
  }

  private void enter() {
    try (var hold = lock.acquire()) {
      assertEquals(1, ++holders);
      if (++entries % 7 == 0) Thread.yield();
      holders--;
    }
  }
}
