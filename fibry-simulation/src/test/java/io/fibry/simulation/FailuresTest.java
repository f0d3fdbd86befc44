package io.fibry.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.simulation.Simulation.Program;
import io.fibry.simulation.run.SimulationCarrier;
import io.fibry.simulation.run.SimulationRun;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;

/** Tests all causes of a failed simulation, and the texts of the failures. */
class FailuresTest {

  private static SimulationFailure failureOf(Program program) {
    return assertThrows(SimulationFailure.class, () -> Simulation.run(options -> options.withSeeds(20), program));
  }

  private static void assertText(String part, SimulationFailure failure) {
    assertTrue(failure.getMessage().contains(part), failure.getMessage());
  }

  @Test
  @Promise("29.16")
  void programExceptionFailsSimulation() {
    var exception = new IOException("no paper");

    var failure = failureOf(sim -> { throw exception; });

    assertSame(exception, failure.getCause());
    assertText("seed 0 fails after ", failure);
    assertText("java.io.IOException: no paper", failure);
    assertText("again: -Dfibry.simulation=0:", failure);
  }

  @Test
  @Promise("29.16")
  void clientExceptionFailsSimulation() {
    var failure = failureOf(sim -> {
      sim.client("writer", () -> { throw new IOException("no ink"); });
      sim.join();
    });

    assertText("java.io.IOException: no ink", failure);
  }

  @Test
  @Promise("29.16")
  void violatedInvariantFailsSimulation() {
    var failure = failureOf(sim -> {
      var count = new AtomicInteger();
      sim.assertAlways("fewer than three", () -> count.get() < 3);
      var counter = sim.scope().named("counter").newActor((String more) -> count.incrementAndGet());
      for (int i = 0; i < 5; i++) counter.sendMessage("more");
    });

    assertText("not always so: fewer than three", failure);
    assertText("main --> counter: more", failure);
  }

  @Test
  void throwingInvariantFailsSimulation() {
    var failure = failureOf(sim -> {
      sim.assertAlways("the invariant holds", () -> { throw new IllegalStateException("no state"); });
      sim.yieldPoint();
    });

    assertText("java.lang.IllegalStateException: no state", failure);
  }

  @Test
  void assertEventuallyThatNeverHoldsFailsSimulation() {
    var failure = failureOf(sim -> sim.assertEventually("it rains", Duration.ofHours(1), () -> false));

    assertText("java.lang.AssertionError: not within 1 h: it rains", failure);
  }

  @Test
  @Promise("29.17")
  void deadlockFailsSimulation() {
    var failure = failureOf(sim -> {
      var leftFork = new ReentrantLock();
      var rightFork = new ReentrantLock();
      sim.client("first", () -> {
        leftFork.lock();
        sim.yieldPoint();
        rightFork.lock();
      });
      sim.client("second", () -> {
        rightFork.lock();
        sim.yieldPoint();
        leftFork.lock();
      });
      sim.join();
    });

    assertText("deadlock: no thread can run, and no timer is due; waiting:", failure);
    assertText("  first at ", failure);
    assertText("  second at ", failure);
  }

  @Test
  @Promise("29.17")
  void liveLockFailsSimulation() {
    var failure = assertThrows(SimulationFailure.class, () -> Simulation.run(options -> options.withMaxSteps(1_000),
        sim -> {
          var ping = sim.scope().named("ping").newActor(
              (Integer number, io.fibry.ActorContext<Integer> context) -> context.self().sendMessage(number + 1));
          ping.sendMessage(0);
          sim.assertEventually("it ends", Duration.ofDays(1), () -> false);
        }));

    assertText("live-lock: no end after 1000 steps; the next thread was ", failure);
  }

  @Test
  @Promise("29.18")
  void leftoverThreadFailsSimulation() {
    var failure = failureOf(sim -> {
      var latch = new CountDownLatch(1);
      Thread.ofVirtual().name("forgotten").start(() -> {
        try {
          latch.await();
        } catch (InterruptedException interrupt) {
          // The thread ends.
        }
      });
    });

    assertText("when all scopes had closed, threads were left\n  forgotten at ", failure);
  }

  @Test
  void threadThatEndsWithinAnHourIsNoLeftover() {
    Simulation.run(options -> options.withSeeds(20), sim -> {
      Thread.ofVirtual().start(() -> LockSupport.parkNanos(Duration.ofMinutes(59).toNanos()));
    });
  }

  @Test
  void clientSleepingAfterProgramEndIsNoLeftover() {
    Simulation.run(options -> options.withSeeds(20), sim -> {
      var actor = sim.scope().named("actor").newActorWithReturn((String message) -> message);
      sim.client("asker", () -> {
        Thread.sleep(Duration.ofDays(1));
        return actor.ask("hello");
      });
    });
  }

  @Test
  @Promise("29.18")
  void leftoverHandlerFailsSimulation() {
    var failure = failureOf(sim -> {
      var clerk = sim.scope().named("clerk").newActor((String go) -> {
        while (true) {
          LockSupport.parkNanos(1_000_000_000);
          Thread.interrupted();
        }
      });
      clerk.sendMessage("go");
    });

    assertText("when all scopes had closed, handlers still run: [clerk]", failure);
  }

  @Test
  @Promise("29.18")
  void deadLetterFailsSimulationWhenForbidden() {
    Program program = sim -> {
      var actor = sim.scope().named("actor").newActor((String message) -> {});
      actor.close();
      actor.sendMessage("hello");
    };
    Simulation.run(options -> options.withSeeds(20), program);

    var failure = assertThrows(SimulationFailure.class,
        () -> Simulation.run(options -> options.withSeeds(20).withoutDeadLetters(), program));

    assertText("when all scopes had closed, there are dead letters: ", failure);
  }

  @Test
  @Promise("29.1")
  void unrepeatableRunFailsSimulation() {
    var runs = new AtomicInteger();

    var failure = failureOf(sim -> {
      for (int i = runs.incrementAndGet() % 7; i > 0; i--) Thread.sleep(1);
    });

    assertText(" is not repeatable: two runs differ at event ", failure);
    assertText("\n    at ", failure);
    assertText("Something else than the seed decides what happens: ", failure);
  }

  @Test
  @Promise("29.7")
  void outsideThreadThatWakesSimulatedThreadFailsSimulation() {
    assertOutsideWakeFails((sim, latch, outside) -> {
      var main = Thread.currentThread();
      var isRunHeld = new AtomicBoolean();
      var hasWoken = new AtomicBoolean();
      outside.execute(() -> {
        while (!isRunHeld.get()) Thread.onSpinWait();
        latch.countDown();
        hasWoken.set(true);
      });
      sim.client("holds the run until the latch is open", () -> {
        while (main.getState() != Thread.State.WAITING) Thread.yield();
        isRunHeld.set(true);
        while (!hasWoken.get());
        return null;
      });
    });
  }

  /**
   * A run without a trace ends as a deadlock in this test. The simulation then repeats it with a
   * trace, for the failure's text. Only the traced run waits for threads from outside, and such a
   * thread wakes main.
   */
  @Test
  @Promise("29.7")
  void simulationFailsWhenOutsideWakeOccursOnlyInTracedRepeat() {
    var carrier = new AtomicReference<Thread>();
    var latchOfLatestRun = new AtomicReference<CountDownLatch>();
    long oldWaitNanos = SimulationRun.externalWaitNanos;
    SimulationRun.externalWaitNanos = Long.MAX_VALUE / 2;
    try {
      assertOutsideWakeFails((sim, latch, outside) -> {
        latchOfLatestRun.set(latch);
        sim.assertAlways("the carrier is known", () -> {
          carrier.set(Thread.currentThread());
          return true;
        });
        outside.execute(() -> {
          while (latchOfLatestRun.get() == latch && !waitsForOthers(carrier.get())) Thread.onSpinWait();
          if (latchOfLatestRun.get() == latch) latch.countDown();
        });
      });
    } finally {
      SimulationRun.externalWaitNanos = oldWaitNanos;
    }
  }

  /** Returns whether the carrier waits for threads from outside, which only a traced run does. */
  private static boolean waitsForOthers(Thread carrier) {
    return carrier != null && carrier.getState() == Thread.State.TIMED_WAITING;
  }

  /** Makes a thread from outside count down the latch for which main waits. */
  private interface OutsideWake {
    void prepare(Simulation sim, CountDownLatch latch, Executor outside);
  }

  /**
   * Asserts that the failure mentions the thread from outside. The queue of this thread's tasks is
   * lock-free, because an abandoned thread of an earlier run could hold a lock forever.
   */
  private static void assertOutsideWakeFails(OutsideWake outsideWake) {
    var tasks = new ConcurrentLinkedQueue<Runnable>();
    var isOver = new AtomicBoolean();
    Thread.ofPlatform().daemon().start(() -> {
      while (!isOver.get()) {
        var task = tasks.poll();
        if (task == null) LockSupport.parkNanos(100_000);
        else task.run();
      }
    });
    int oldMaxSeconds = SimulationCarrier.maxStepSeconds;
    SimulationCarrier.maxStepSeconds = 3_600; // a busy machine may delay the outside thread
    try {
      var failure = failureOf(sim -> {
        var latch = new CountDownLatch(1);
        outsideWake.prepare(sim, latch, tasks::add);
        latch.await();
      });

      assertText("a thread from outside the simulation woke main, which waited\n", failure);
    } finally {
      SimulationCarrier.maxStepSeconds = oldMaxSeconds;
      isOver.set(true);
    }
  }

  private static final CountDownLatch OPEN = new CountDownLatch(1);

  /** A class whose initializer waits, which pins the waiting thread to its carrier. */
  private static final class BlockingInitializer {
    static {
      try {
        OPEN.await();
      } catch (InterruptedException interrupt) {
        // The thread ends.
      }
    }

    private static void touch() {}
  }

  private static SimulationFailure failureOfHeldCarrier(int maxStepSeconds, Program program) {
    int oldMaxSeconds = SimulationCarrier.maxStepSeconds;
    SimulationFailure failure;
    SimulationCarrier.maxStepSeconds = maxStepSeconds;
    try {
      failure = failureOf(program);
    } finally {
      SimulationCarrier.maxStepSeconds = oldMaxSeconds;
    }
    assertTrue(failure.getCause().getMessage().endsWith(" is here"), failure.getCause().getMessage());
    Simulation.run(options -> options.withSeeds(20), sim -> sim.yieldPoint()); // on another carrier
    return failure;
  }

  @Test
  @Promise("29.22")
  void waitThatHoldsCarrierFailsSimulation() {
    var failure = failureOfHeldCarrier(2, sim -> {
      sim.scope().named("holder").newActor((String go) -> BlockingInitializer.touch()).sendMessage("go");
    });
    OPEN.countDown();

    assertText(" has waited for 2 s without leaving its carrier", failure);
  }

  @Test
  @Promise("29.22")
  void computationThatHoldsCarrierFailsSimulation() {
    var isOver = new AtomicBoolean();
    var failure = failureOfHeldCarrier(1, sim -> {
      while (!isOver.get());
    });
    isOver.set(true);

    assertText(" has used 1 s of processor time in one step", failure);
  }

  @Test
  void interruptOfCallerCancelsSimulation() {
    var runs = new AtomicInteger();
    var searcher = Thread.currentThread();

    var cancellation = assertThrows(CancellationException.class, () -> Simulation.run(sim -> {
      if (runs.incrementAndGet() == 10) searcher.interrupt();
    }));

    assertTrue(Thread.interrupted());
    assertTrue(runs.get() < 15, runs + " runs");
    assertTrue(cancellation.getMessage().startsWith("interrupted after "), cancellation.getMessage());
  }

  @Test
  void nestedSimulationIsRefused() {
    var failure = failureOf(sim -> Simulation.run(inner -> {}));

    assertEquals("a simulation inside a simulation; run one after the other", failure.getCause().getMessage());
  }
}
