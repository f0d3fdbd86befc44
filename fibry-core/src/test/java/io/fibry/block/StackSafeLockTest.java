package io.fibry.block;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Promise;
import io.fibry.StackEdge;
import io.fibry.StressHarness;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import java.util.ArrayList;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

@SuppressWarnings("try") // the variable of the lock is not used
class StackSafeLockTest {
  private static final int ROUNDS = Soak.ON ? 2_000 : 8;

  private final StackSafeLock lock = new StackSafeLock(false);
  private int inside; // guarded by the lock
  private int entered;

  @Promise("8.5")
  @Test
  void unparkableFiberLeavesQueue() {
    lock.acquire();
    StackEdge.whereNoParkWorks(() -> assertThrows(StackOverflowError.class, lock::acquire));
    var next = Thread.startVirtualThread(this::enter);
    Patience.parked(next);

    lock.close();

    Patience.joined(next);
    assertEquals(1, entered);
  }

  @Promise("8.5")
  @Test
  void unparkableFiberSpinsWhenHoldersNeverWait() {
    var brief = new StackSafeLock(true);
    brief.acquire();
    var came = new CountDownLatch(1);
    var holder = Thread.ofPlatform().start(() -> {
      Patience.await(came);
      brief.close();
    });

    StackEdge.whereNoParkWorks(() -> {
      came.countDown();
      try (var held = brief.acquire()) {
        entered++;
      }
    });

    Patience.joined(holder);
    assertEquals(1, entered);
  }

  @Test
  void anInterruptDoesNotEndTheWaitAndIsKept() {
    lock.acquire();
    var kept = new AtomicBoolean();
    var waiting = Thread.ofPlatform().start(() -> {
      enter();
      kept.set(Thread.interrupted());
    });
    Patience.parked(waiting);

    waiting.interrupt();
    Patience.eventually(() -> !waiting.isInterrupted());
    Patience.parked(waiting);
    lock.close();

    Patience.joined(waiting);
    assertTrue(kept.get());
  }

  @Test
  void everyThreadEntersAloneAndEventually() {
    long seed = StressHarness.seed();
    System.out.println("threads at a lock: -Dfibry.seed=" + seed);
    var random = new SplittableRandom(seed);
    for (int round = 0; round < ROUNDS; round++) {
      entered = 0;
      var threads = new ArrayList<Thread>();
      int each = 1 + random.nextInt(200);
      for (int i = random.nextInt(2, 20); i > 0; i--) {
        var builder = random.nextBoolean() ? Thread.ofVirtual() : Thread.ofPlatform();
        threads.add(builder.start(() -> {
          for (int times = 0; times < each; times++) enter();
        }));
      }
      for (int i = random.nextInt(20); i > 0; i--) threads.get(random.nextInt(threads.size())).interrupt();

      Patience.progress(() -> entered, () -> threads.stream().noneMatch(Thread::isAlive));

      assertEquals(threads.size() * each, entered);
    }
  }

  /** One leaves while another gives the lock back: the third must be woken all the same. */
  @Promise("8.5")
  @Test
  void fiberThatLeavesQueuePassesTurnOn() {
    long seed = StressHarness.seed();
    System.out.println("one leaves the line: -Dfibry.seed=" + seed);
    var random = new SplittableRandom(seed);
    for (int round = 0; round < 20 * ROUNDS; round++) {
      lock.acquire();
      var came = new CountDownLatch(1);
      var behind = Thread.ofPlatform().start(() -> {
        Patience.await(came);
        enter();
      });

      int spins = random.nextInt(20_000);
      var holder = Thread.ofPlatform().start(() -> {
        Patience.await(came);
        for (int i = 0; i < spins; i++) Thread.onSpinWait();
        lock.close();
      });
      StackEdge.whereNoParkWorks(() -> {
        came.countDown();
        try (var held = lock.acquire()) {
          entered++;
        } catch (StackOverflowError left) {}
      });

      Patience.joined(holder);
      Patience.joined(behind);
    }
  }

  private void enter() {
    try (var held = lock.acquire()) {
      assertEquals(1, ++inside);
      if (++entered % 7 == 0) Thread.yield();
      inside--;
    }
  }
}
