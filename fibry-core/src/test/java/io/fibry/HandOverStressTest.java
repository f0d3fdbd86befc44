package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.support.Patience;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/**
 * Rings of actors hand over to each other, while one of each is killed. No other is interrupted.
 */
class HandOverStressTest {
  private static final int RINGS = 4;
  private static final int SIZE = 6;

  private final ConcurrentLinkedQueue<String> faults = new ConcurrentLinkedQueue<>();
  private final AtomicInteger handled = new AtomicInteger();

  @Promise("9.1")
  @Test
  void aKillInterruptsItsActorOnly() throws InterruptedException {
    long seed = StressHarness.seed();
    System.out.println("hand-over: -Dfibry.seed=" + seed);
    var random = new SplittableRandom(seed);
    long end = System.nanoTime() + StressHarness.millis(800) * 1_000_000;
    int rounds = 0;
    for (; System.nanoTime() < end && faults.isEmpty(); rounds++) play(random.split());

    assertEquals(List.of(), List.copyOf(faults));
    System.out.println("hand-over: " + rounds + " rounds, " + handled + " messages");
  }

  private void play(SplittableRandom random) throws InterruptedException {
    try (var scope = ActorSystem.openScope("stress", o -> o.withDrainLimit(Patience.LONG))) {
      var victims = new ArrayList<Actor<Integer>>();
      for (int i = 0; i < RINGS; i++) {
        var seats = new Seats(scope, random.split());
        victims.add(seats.victim);
        seats.first().sendMessage(200 + random.nextInt(2_000));
      }
      for (var victim : victims) {
        LockSupport.parkNanos(random.nextInt(400_000));
        victim.kill();
      }
      for (var victim : victims) Patience.ended(victim::waitForExit);
    }
  }

  /** A ring, one of which is killed. Its neighbors send past it once it has ended. */
  private final class Seats {
    private final List<Actor<Integer>> ring = new ArrayList<>();
    final Actor<Integer> victim;

    Seats(ActorScope scope, SplittableRandom random) {
      int killed = random.nextInt(SIZE);
      for (int i = 0; i < SIZE; i++) {
        int seat = i;
        boolean isVictim = i == killed;
        int pause = random.nextInt(20);
        ring.add(scope.anonymous().onFailure(FailurePolicy.resume().withoutLog())
            .newActor((Integer left) -> pass(seat, left, isVictim, pause)));
      }
      victim = ring.get(killed);
    }

    Actor<Integer> first() {
      return ring.getFirst();
    }

    private void pass(int seat, int left, boolean isVictim, int pause) {
      handled.incrementAndGet();
      if (!isVictim && Thread.currentThread().isInterrupted()) faults.add("interrupted at its beginning");
      if (left > 0) for (int next = 1; next < SIZE && !ring.get((seat + next) % SIZE).sendMessage(left - 1); next++);
      if (pause == 0) LockSupport.parkNanos(10_000);
      if (!isVictim && Thread.currentThread().isInterrupted()) faults.add("interrupted at its end");
    }
  }
}
