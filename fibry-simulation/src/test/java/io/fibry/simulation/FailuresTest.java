package io.fibry.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.simulation.Simulation.Program;
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

/** All that fails a run, with its text. */
class FailuresTest {

  private static SimulationFailure failure(Program program) {
    return assertThrows(SimulationFailure.class, () -> Simulation.run(options -> options.withSeeds(20), program));
  }

  private static void assertText(String part, SimulationFailure failure) {
    assertTrue(failure.getMessage().contains(part), failure.getMessage());
  }

  @Test
  @Promise("29.16")
  void programExceptionFailsSimulation() {
    var thrown = new IOException("no paper");

    var failure = failure(sim -> { throw thrown; });

    assertSame(thrown, failure.getCause());
    assertText("seed 0 fails after ", failure);
    assertText("java.io.IOException: no paper", failure);
    assertText("again: -Dfibry.simulation=0:", failure);
  }

  @Test
  @Promise("29.16")
  void clientExceptionFailsSimulation() {
    var failure = failure(sim -> {
      sim.client("one", () -> { throw new IOException("no ink"); });
      sim.join();
    });

    assertText("java.io.IOException: no ink", failure);
  }

  @Test
  @Promise("29.16")
  void violatedInvariantFailsSimulation() {
    var failure = failure(sim -> {
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
    var failure = failure(sim -> {
      sim.assertAlways("it can be looked at", () -> { throw new IllegalStateException("it is gone"); });
      sim.yieldPoint();
    });

    assertText("java.lang.IllegalStateException: it is gone", failure);
  }

  @Test
  void unreachedConditionFailsSimulation() {
    var failure = failure(sim -> sim.assertEventually("it rains", Duration.ofHours(1), () -> false));

    assertText("java.lang.AssertionError: not within PT1H: it rains", failure);
  }

  @Test
  @Promise("29.17")
  void deadlockFailsSimulation() {
    var failure = failure(sim -> {
      var one = new ReentrantLock();
      var two = new ReentrantLock();
      sim.client("first", () -> {
        one.lock();
        sim.yieldPoint();
        two.lock();
        return null;
      });
      sim.client("second", () -> {
        two.lock();
        sim.yieldPoint();
        one.lock();
        return null;
      });
      sim.join();
    });

    assertText("deadlock: nothing can run, and nothing is due; these wait", failure);
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

    assertText("live-lock: 1000 steps and no end; next was ", failure);
  }

  @Test
  @Promise("29.18")
  void leftoverThreadFailsSimulation() {
    var failure = failure(sim -> {
      var never = new CountDownLatch(1);
      Thread.ofVirtual().name("forgotten").start(() -> {
        try {
          never.await();
        } catch (InterruptedException end) {
          // it ends
        }
      });
    });

    assertText("when all scopes had closed, threads were left\n  forgotten at ", failure);
  }

  @Test
  void threadThatEndsItselfIsNoLeftover() {
    Simulation.run(options -> options.withSeeds(20), sim -> {
      Thread.ofVirtual().start(() -> LockSupport.parkNanos(Duration.ofMinutes(59).toNanos()));
    });
  }

  @Test
  void unjoinedClientIsNoLeftover() {
    Simulation.run(options -> options.withSeeds(20), sim -> {
      var actor = sim.scope().named("actor").newActorWithReturn((String message) -> message);
      sim.client("one", () -> {
        Thread.sleep(Duration.ofDays(1));
        return actor.ask("hello");
      });
    });
  }

  @Test
  @Promise("29.18")
  void leftoverHandlerFailsSimulation() {
    var failure = failure(sim -> {
      var deaf = sim.scope().named("deaf").newActor((String go) -> {
        while (true) {
          LockSupport.parkNanos(1_000_000_000);
          Thread.interrupted();
        }
      });
      deaf.sendMessage("go");
    });

    assertText("when all scopes had closed, handlers still run: [deaf]", failure);
  }

  @Test
  @Promise("29.18")
  void deadLetterFailsSimulationWhenForbidden() {
    Program program = sim -> {
      var gone = sim.scope().named("gone").newActor((String message) -> {});
      gone.close();
      gone.sendMessage("hello");
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

    var failure = failure(sim -> {
      for (int i = runs.incrementAndGet() % 7; i > 0; i--) Thread.sleep(1);
    });

    assertText(" is not repeatable: two runs part at event ", failure);
    assertText("\n    at ", failure);
    assertText("Something else than the seed decides what happens: ", failure);
  }

  @Test
  @Promise("29.7")
  void wakeByOutsideThreadFailsSimulation() {
    assertOutsideIsTold((sim, latch, outside) -> {
      var waits = Thread.currentThread();
      var holds = new AtomicBoolean();
      var woken = new AtomicBoolean();
      outside.execute(() -> {
        while (!holds.get()) Thread.onSpinWait();
        latch.countDown();
        woken.set(true);
      });
      sim.client("holds the run until it has come", () -> {
        while (waits.getState() != Thread.State.WAITING) Thread.yield();
        holds.set(true);
        while (!woken.get());
        return null;
      });
    });
  }

  /**
   * All runs look like deadlocks; the run that is shown waits for the thread, which comes only
   * then.
   */
  @Test
  @Promise("29.7")
  void lateWakeByOutsideThreadFailsSimulation() {
    var carrier = new AtomicReference<Thread>();
    var latest = new AtomicReference<CountDownLatch>(); // of the run that began last
    long before = SimulationRun.externalWaitNanos;
    SimulationRun.externalWaitNanos = Long.MAX_VALUE / 2;
    try {
      assertOutsideIsTold((sim, latch, outside) -> {
        latest.set(latch);
        sim.assertAlways("its carrier is known", () -> {
          carrier.set(Thread.currentThread());
          return true;
        });
        outside.execute(() -> {
          while (latest.get() == latch && !waitsForOthers(carrier.get())) Thread.onSpinWait();
          if (latest.get() == latch) latch.countDown();
        });
      });
    } finally {
      SimulationRun.externalWaitNanos = before;
    }
  }

  /** The carrier of a run that is not shown never does. */
  private static boolean waitsForOthers(Thread carrier) {
    return carrier != null && carrier.getState() == Thread.State.TIMED_WAITING;
  }

  /** Lets a thread from outside count down the latch that main waits for. */
  private interface Beginning {
    void begin(Simulation sim, CountDownLatch latch, Executor outside);
  }

  /** The queue has no lock, which a thread of a run that is over could keep. */
  private static void assertOutsideIsTold(Beginning beginning) {
    var tasks = new ConcurrentLinkedQueue<Runnable>();
    var over = new AtomicBoolean();
    Thread.ofPlatform().daemon().start(() -> {
      while (!over.get()) {
        var task = tasks.poll();
        if (task == null) LockSupport.parkNanos(100_000);
        else task.run();
      }
    });
    int before = SimulationCarrier.maxStepSeconds;
    SimulationCarrier.maxStepSeconds = 3_600; // the thread from outside may get no processor for long
    try {
      var failure = failure(sim -> {
        var latch = new CountDownLatch(1);
        beginning.begin(sim, latch, tasks::add);
        latch.await();
      });

      assertText("a thread from outside the simulation woke main, which waited\n", failure);
    } finally {
      SimulationCarrier.maxStepSeconds = before;
      over.set(true);
    }
  }

  private static final CountDownLatch OPEN = new CountDownLatch(1);

  /** Its initializer waits where no thread can be taken off its carrier. */
  private static final class Blocked {
    static {
      try {
        OPEN.await();
      } catch (InterruptedException end) {
        // it ends
      }
    }

    private static void touch() {}
  }

  private static SimulationFailure held(int patience, Program program) {
    int before = SimulationCarrier.maxStepSeconds;
    SimulationFailure failure;
    SimulationCarrier.maxStepSeconds = patience;
    try {
      failure = failure(program);
    } finally {
      SimulationCarrier.maxStepSeconds = before;
    }
    assertTrue(failure.getCause().getMessage().endsWith(" is here"), failure.getCause().getMessage());
    Simulation.run(options -> options.withSeeds(20), sim -> sim.yieldPoint()); // the next one has another carrier
    return failure;
  }

  @Test
  @Promise("29.22")
  void waitThatHoldsCarrierFailsSimulation() {
    var failure = held(2, sim -> {
      sim.scope().named("holder").newActor((String go) -> Blocked.touch()).sendMessage("go");
    });
    OPEN.countDown();

    assertText(" has waited for 2 s where its thread cannot be taken from it", failure);
  }

  @Test
  @Promise("29.22")
  void computationThatHoldsCarrierFailsSimulation() {
    var end = new AtomicBoolean();
    var failure = held(1, sim -> {
      while (!end.get());
    });
    end.set(true);

    assertText(" has used 1 s of processor time in one step", failure);
  }

  @Test
  void anInterruptEndsTheSearch() {
    var runs = new AtomicInteger();
    var searching = Thread.currentThread();

    var ended = assertThrows(CancellationException.class, () -> Simulation.run(sim -> {
      if (runs.incrementAndGet() == 10) searching.interrupt();
    }));

    assertTrue(Thread.interrupted());
    assertTrue(runs.get() < 15, runs + " runs");
    assertTrue(ended.getMessage().startsWith("interrupted after "), ended.getMessage());
  }

  @Test
  void nestedSimulationIsRefused() {
    var failure = failure(sim -> Simulation.run(inner -> {}));

    assertEquals("a simulation inside a simulation; run one after the other", failure.getCause().getMessage());
  }
}
