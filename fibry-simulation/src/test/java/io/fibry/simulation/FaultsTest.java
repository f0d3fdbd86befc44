package io.fibry.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.AskTimeoutException;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.simulation.Simulation.Program;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class FaultsTest {

  private static void simulate(Program program) {
    Simulation.run(options -> options.withSeeds(200), program);
  }

  @Test
  @Promise("29.9")
  void killsAffectOnlyPermittedActors() {
    var killed = new AtomicInteger();

    simulate(sim -> {
      var victim = sim.scope().named("victim").newActor((String message) -> {});
      var other = sim.scope().named("other").newActor((String message) -> {});
      sim.faults().withAllKinds().withKills(0.2, actor -> actor == victim);
      for (int i = 0; i < 10; i++) {
        victim.sendMessage("hello");
        other.sendMessage("hello");
      }
      assertEquals(false, other.onExit().isDone());
      if (victim.onExit().isDone()) killed.incrementAndGet();
    });

    assertTrue(killed.get() > 100, killed + " of 201");
  }

  @Test
  @Promise("29.9")
  void delaysKeepSenderOrder() {
    var late = new AtomicInteger();

    simulate(sim -> {
      sim.faults().withAllKinds().withDelays(0.3, Duration.ofSeconds(1));
      var seen = new ArrayList<Integer>();
      var actor = sim.scope().named("actor").newActor((Integer number) -> seen.add(number));
      for (int i = 0; i < 10; i++) actor.sendMessage(i);
      actor.close();
      assertEquals(List.of(0, 1, 2, 3, 4, 5, 6, 7, 8, 9), seen);
      if (sim.time().isPositive()) late.incrementAndGet();
    });

    assertTrue(late.get() > 100, late + " of 201");
  }

  @Test
  void stallsLetRequestsTimeOut() {
    var late = new AtomicInteger();

    simulate(sim -> {
      sim.faults().withAllKinds().withStalls(0.5, Duration.ofSeconds(10));
      var actor = sim.scope().named("actor").newActorWithReturn((Integer number) -> number);
      try {
        actor.ask(1, Duration.ofSeconds(5));
      } catch (AskTimeoutException stalled) {
        late.incrementAndGet();
      }
    });

    assertTrue(late.get() > 10 && late.get() < 190, late + " of 201");
  }

  @Test
  void clocksJumpForwardAndBack() {
    var ahead = new AtomicInteger();
    var back = new AtomicInteger();

    simulate(sim -> {
      sim.faults().withAllKinds().withClockJumps(0.3, Duration.ofHours(1));
      long nanos = System.nanoTime();
      var wall = Instant.now();
      for (int i = 0; i < 5; i++) Thread.yield();
      assertTrue(System.nanoTime() >= nanos);
      if (System.nanoTime() > nanos) ahead.incrementAndGet();
      if (Instant.now().isBefore(wall)) back.incrementAndGet();
    });

    assertTrue(ahead.get() > 20, ahead + " of 201");
    assertTrue(back.get() > 20, back + " of 201");
  }

  @Test
  @Promise("29.10")
  void actorWithFailedThreadStartRunsLater() {
    simulate(sim -> {
      sim.faults().withAllKinds().withFailedThreadStarts(0.3);
      var actor = sim.scope().named("actor").newActorWithReturn((Integer number) -> number);
      for (int i = 0; i < 5; i++) assertEquals(i, actor.ask(i));
    });
  }

  @Test
  @Promise("29.10")
  void askTimesOutDespiteFailedThreadStarts() {
    simulate(sim -> {
      var never = new CountDownLatch(1);
      var deaf = sim.scope().named("deaf").newActorWithReturn((String message) -> {
        never.await();
        return 1;
      });
      deaf.sendMessageReturn("first");
      sim.faults().withAllKinds().withFailedThreadStarts(0.2);
      assertThrows(AskTimeoutException.class, () -> deaf.ask("second", Duration.ofSeconds(1)));
      sim.faults().stop();
      never.countDown();
    });
  }

  @Test
  void boundedMailboxesMayShrink() {
    Set<Integer> rooms = new HashSet<>();

    simulate(sim -> {
      sim.faults().withAllKinds().withSmallMailboxes(0.7);
      var never = new CountDownLatch(1);
      var slow = sim.scope().named("slow").mailbox(Mailbox.bounded(5, Overflow.REJECT))
          .newActor((Integer number) -> never.await());
      slow.sendMessage(0);
      Thread.sleep(1);
      int taken = 0;
      while (slow.sendMessage(taken + 1)) taken++;
      rooms.add(taken);
      never.countDown();
    });

    assertEquals(Set.of(1, 2, 3, 5), rooms);
  }

  @Test
  @Promise("29.8")
  void faultKindStrikesHalfTheRunsUnlessAlways() {
    var struck = new AtomicInteger();
    var always = new AtomicInteger();

    simulate(sim -> {
      sim.faults().withSmallMailboxes(1);
      if (sim.faults().mayStrike(FaultKind.MAILBOXES)) struck.incrementAndGet();
      sim.faults().withAllKinds().withSmallMailboxes(1);
      if (sim.faults().mayStrike(FaultKind.MAILBOXES)) always.incrementAndGet();
    });

    assertTrue(struck.get() > 60 && struck.get() < 150, struck + " of some 210");
    assertTrue(always.get() > 200, always + " of them");
  }

  @Test
  @Promise("29.3")
  void faultNotNeededByFailureIsRemoved() {
    var failure = assertThrows(SimulationFailure.class, () -> simulate(sim -> {
      sim.faults().withAllKinds().withStalls(0.9, Duration.ofSeconds(1)).withSmallMailboxes(1);
      Mailbox.bounded(10, Overflow.REJECT);
      Thread.sleep(1);
      throw new IllegalStateException("it fails in any case");
    }));

    assertTrue(failure.replay().contains("!mailboxes"), failure.replay());
  }

  @Test
  void invalidProbabilitiesAreRefused() {
    simulate(sim -> {
      assertThrows(IllegalArgumentException.class, () -> sim.faults().withFailedThreadStarts(1.1));
      assertThrows(IllegalArgumentException.class, () -> sim.faults().withFailedThreadStarts(Double.NaN));
      assertThrows(IllegalArgumentException.class, () -> sim.faults().withDelays(0.1, Duration.ZERO));
    });
  }
}
