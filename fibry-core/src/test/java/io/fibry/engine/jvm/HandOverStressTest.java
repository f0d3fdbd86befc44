package io.fibry.engine.jvm;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.FailurePolicy;
import io.fibry.support.Patience;
import io.fibry.testing.Promise;
import io.fibry.testing.StressRuns;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Runs rings of actors that hand over to each other, and kills one actor of each ring. The kill
 * must not interrupt another actor.
 */
@Tag("jdk-scheduler")
class HandOverStressTest {
  private static final int RINGS = 4;
  private static final int SIZE = 6;

  private final ConcurrentLinkedQueue<String> violations = new ConcurrentLinkedQueue<>();
  private final AtomicInteger handled = new AtomicInteger();

  @Promise("9.1")
  @Test
  void killDuringHandOverInterruptsOnlyKilledActor() throws InterruptedException {
    long seed = StressRuns.seed();
    System.out.println("hand-over: -Dfibry.seed=" + seed);
    var random = new SplittableRandom(seed);
    long deadline = System.nanoTime() + StressRuns.millis(800) * 1_000_000;
    int rounds = 0;
    for (; System.nanoTime() < deadline && violations.isEmpty(); rounds++) runRound(random.split());

    assertEquals(List.of(), List.copyOf(violations));
    System.out.println("hand-over: " + rounds + " rounds, " + handled + " messages");
  }

  private void runRound(SplittableRandom random) throws InterruptedException {
    try (var scope = ActorSystem.openScope("stress", o -> o.withDrainLimit(Patience.LONG))) {
      var victims = new ArrayList<Actor<Integer>>();
      for (int i = 0; i < RINGS; i++) {
        var ring = new Ring(scope, random.split());
        victims.add(ring.victim);
        ring.first().sendMessage(200 + random.nextInt(2_000));
      }
      for (var victim : victims) {
        LockSupport.parkNanos(random.nextInt(400_000));
        victim.kill();
      }
      for (var victim : victims) Patience.awaitEnd(victim::waitForExit);
    }
  }

  /**
   * A ring of actors, one of which is killed. Once that actor has ended, the actor before it sends
   * to the actor after it.
   */
  private final class Ring {
    private final List<Actor<Integer>> actors = new ArrayList<>();
    final Actor<Integer> victim;

    Ring(ActorScope scope, SplittableRandom random) {
      int victimPosition = random.nextInt(SIZE);
      for (int i = 0; i < SIZE; i++) {
        int position = i;
        boolean isVictim = i == victimPosition;
        int pause = random.nextInt(20);
        actors.add(scope.anonymous().onFailure(FailurePolicy.resume().withoutLog())
            .newActor((Integer remaining) -> pass(position, remaining, isVictim, pause)));
      }
      victim = actors.get(victimPosition);
    }

    Actor<Integer> first() {
      return actors.getFirst();
    }

    private void pass(int position, int remaining, boolean isVictim, int pause) {
      handled.incrementAndGet();
      if (!isVictim && Thread.currentThread().isInterrupted())
        violations.add("interrupted at the beginning of a handler");
      if (remaining > 0)
        for (int next = 1; next < SIZE && !actors.get((position + next) % SIZE).sendMessage(remaining - 1); next++);
      if (pause == 0) LockSupport.parkNanos(10_000);
      if (!isVictim && Thread.currentThread().isInterrupted()) violations.add("interrupted at the end of a handler");
    }
  }
}
