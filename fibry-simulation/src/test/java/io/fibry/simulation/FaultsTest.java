package io.fibry.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.AskTimeoutException;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.simulation.Simulation.Program;
import io.fibry.simulation.run.FaultKind;
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
  private static final int SEEDS = 200;
  private static final int RUNS = SEEDS + 1; // the first run is on a quiet machine

  private static void simulate(Program program) {
    Simulation.run(options -> options.withSeeds(SEEDS), program);
  }

  @Test
  @Promise("29.9")
  void killFaultsAffectOnlyPermittedActors() {
    var runsWithKill = new AtomicInteger();

    simulate(sim -> {
      var victim = sim.scope().named("victim").newActor((String message) -> {});
      var survivor = sim.scope().named("survivor").newActor((String message) -> {});
      sim.faults().withAllKinds().withKills(0.2, actor -> actor == victim);
      for (int i = 0; i < 10; i++) {
        victim.sendMessage("hello");
        survivor.sendMessage("hello");
      }
      assertEquals(false, survivor.onExit().isDone());
      if (victim.onExit().isDone()) runsWithKill.incrementAndGet();
    });

    assertTrue(runsWithKill.get() > 100, runsWithKill + " of " + RUNS + " runs");
  }

  @Test
  @Promise("29.9")
  void delayFaultsKeepMessageOrderOfSender() {
    var runsWithDelay = new AtomicInteger();

    simulate(sim -> {
      sim.faults().withAllKinds().withDelays(0.3, Duration.ofSeconds(1));
      var received = new ArrayList<Integer>();
      var actor = sim.scope().named("actor").newActor((Integer number) -> received.add(number));
      for (int i = 0; i < 10; i++) actor.sendMessage(i);
      actor.close();
      assertEquals(List.of(0, 1, 2, 3, 4, 5, 6, 7, 8, 9), received);
      if (sim.time().isPositive()) runsWithDelay.incrementAndGet();
    });

    assertTrue(runsWithDelay.get() > 100, runsWithDelay + " of " + RUNS + " runs");
  }

  @Test
  void stallFaultsMakeRequestsTimeOut() {
    var timeouts = new AtomicInteger();

    simulate(sim -> {
      sim.faults().withAllKinds().withStalls(0.5, Duration.ofSeconds(10));
      var actor = sim.scope().named("actor").newActorWithReturn((Integer number) -> number);
      try {
        actor.ask(1, Duration.ofSeconds(5));
      } catch (AskTimeoutException timeout) {
        timeouts.incrementAndGet();
      }
    });

    assertTrue(timeouts.get() > 10 && timeouts.get() < 190, timeouts + " of " + RUNS + " runs");
  }

  @Test
  void clockJumpsMoveNanoTimeForwardAndWallClockBackward() {
    var forwardJumps = new AtomicInteger();
    var backwardJumps = new AtomicInteger();

    simulate(sim -> {
      sim.faults().withAllKinds().withClockJumps(0.3, Duration.ofHours(1));
      long nanos = System.nanoTime();
      var wall = Instant.now();
      for (int i = 0; i < 5; i++) Thread.yield();
      assertTrue(System.nanoTime() >= nanos);
      if (System.nanoTime() > nanos) forwardJumps.incrementAndGet();
      if (Instant.now().isBefore(wall)) backwardJumps.incrementAndGet();
    });

    assertTrue(forwardJumps.get() > 20, forwardJumps + " of " + RUNS + " runs");
    assertTrue(backwardJumps.get() > 20, backwardJumps + " of " + RUNS + " runs");
  }

  @Test
  @Promise("29.10")
  void actorAnswersAlthoughThreadStartsFail() {
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
      var latch = new CountDownLatch(1);
      var actor = sim.scope().named("actor").newActorWithReturn((String message) -> {
        latch.await();
        return 1;
      });
      actor.sendMessageReturn("first");
      sim.faults().withAllKinds().withFailedThreadStarts(0.2);
      assertThrows(AskTimeoutException.class, () -> actor.ask("second", Duration.ofSeconds(1)));
      sim.faults().stop();
      latch.countDown();
    });
  }

  @Test
  void smallMailboxFaultReducesCapacityOfBoundedMailbox() {
    Set<Integer> capacities = new HashSet<>();

    simulate(sim -> {
      sim.faults().withAllKinds().withSmallMailboxes(0.7);
      var latch = new CountDownLatch(1);
      var actor = sim.scope().named("slow").mailbox(Mailbox.bounded(5, Overflow.REJECT))
          .newActor((Integer number) -> latch.await());
      actor.sendMessage(0);
      Thread.sleep(1);
      int accepted = 0;
      while (actor.sendMessage(accepted + 1)) accepted++;
      capacities.add(accepted);
      latch.countDown();
    });

    assertEquals(Set.of(1, 2, 3, 5), capacities); // the fault permits at most 3; without it, the program's 5
  }

  @Test
  @Promise("29.8")
  void faultKindIsActiveInHalfOfRunsByDefault() {
    var runsByDefault = new AtomicInteger();
    var runsWithAllKinds = new AtomicInteger();

    simulate(sim -> {
      sim.faults().withSmallMailboxes(1);
      if (sim.faults().injector.mayStrike(FaultKind.MAILBOXES)) runsByDefault.incrementAndGet();
      sim.faults().withAllKinds().withSmallMailboxes(1);
      if (sim.faults().injector.mayStrike(FaultKind.MAILBOXES)) runsWithAllKinds.incrementAndGet();
    });

    assertTrue(runsByDefault.get() > 60 && runsByDefault.get() < 150, runsByDefault + " of " + RUNS + " runs");
    assertTrue(runsWithAllKinds.get() > 200, runsWithAllKinds + " of " + RUNS + " runs");
  }

  @Test
  @Promise("29.3")
  void replayDisablesFaultThatFailureDoesNotNeed() {
    var failure = assertThrows(SimulationFailure.class, () -> simulate(sim -> {
      sim.faults().withAllKinds().withStalls(0.9, Duration.ofSeconds(1)).withSmallMailboxes(1);
      Mailbox.bounded(10, Overflow.REJECT);
      Thread.sleep(1);
      throw new IllegalStateException("the program fails in each run");
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
