package io.fibry.simulation.run;

import io.fibry.engine.world.Environment;
import io.fibry.simulation.tap.SimulationThread;
import io.fibry.text.Lines;
import java.lang.management.ManagementFactory;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The platform thread on which all simulated threads run. A JVM has one carrier and one run at a
 * time, so a second simulation waits for the first. If a step holds the carrier for too long, the
 * run fails, and the next run gets a new carrier.
 */
public final class SimulationCarrier {
  private static final int DEFAULT_STEP_SECONDS = 10;
  // The max time of a step in seconds; 0: the system property decides. Tests change it.
  public static volatile int maxStepSeconds;
  private static final ReentrantLock LOCK = new ReentrantLock(); // held by the thread that simulates
  private static @Nullable SimulationCarrier current; // guarded by LOCK; null: none

  private final SynchronousQueue<Runnable> runs = new SynchronousQueue<>();
  private final SimulationThread thread = new SimulationThread(this::loop, "simulation");
  private volatile boolean isLost; // a step held the thread for too long; the thread gets no further runs

  private SimulationCarrier() {
    thread.start();
  }

  /**
   * Returns the max time of a step in seconds.
   *
   * @throws IllegalArgumentException if the system property is not valid
   */
  public static int stepLimitSeconds() {
    if (maxStepSeconds > 0) return maxStepSeconds;
    var text = System.getProperty("fibry.simulation.patience");
    if (text == null) return DEFAULT_STEP_SECONDS;
    try {
      int seconds = Integer.parseInt(text);
      if (seconds > 0) return seconds;
    } catch (NumberFormatException notNumber) {}
    throw new IllegalArgumentException("-Dfibry.simulation.patience=" + Lines.line(text)
        + " is not a number of seconds; give 1 to " + Integer.MAX_VALUE);
  }

  /**
   * Waits until no other simulation runs in this JVM, and begins a simulation.
   *
   * @throws CancellationException if the thread is interrupted; its interrupt flag stays set
   */
  public static void lock() {
    try {
      LOCK.lockInterruptibly();
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw new CancellationException("interrupted while it waited for another simulation in this JVM to end");
    }
    Environment.simulated = new SimulatedEnvironment();
  }

  /** Ends a simulation. */
  public static void unlock() {
    Environment.simulated = null;
    LOCK.unlock();
  }

  /** Runs a program until the run ends, or until a step holds the carrier for too long. */
  public static void play(SimulationRun run, Runnable main) {
    if (current == null) current = new SimulationCarrier();
    current.playAndWatch(run, main);
  }

  private void playAndWatch(SimulationRun run, Runnable main) {
    int maxSeconds = stepLimitSeconds();
    var done = new CountDownLatch(1);
    boolean isInterrupted = putUninterruptibly(() -> {
      thread.machine = run;
      try {
        run.play(main);
      } finally {
        thread.machine = null;
        done.countDown();
      }
    });
    var watchdog = new StepWatchdog(maxSeconds);
    while (!isLost) {
      try {
        if (done.await(1, TimeUnit.SECONDS)) break;
        var verdict = watchdog.check(run.steps(), processorTime(), isWaiting(run.current()));
        if (verdict != StepWatchdog.StepVerdict.CONTINUES) onHeld(run, verdict, maxSeconds);
      } catch (InterruptedException interrupt) {
        isInterrupted = true;
      }
    }
    if (isInterrupted) Thread.currentThread().interrupt();
  }

  /**
   * Returns the processor time of the carrier in nanoseconds; -1 if this JVM does not measure it,
   * or has no module java.management.
   */
  private long processorTime() {
    try {
      return ManagementFactory.getThreadMXBean().getThreadCpuTime(thread.threadId());
    } catch (UnsupportedOperationException | LinkageError unavailable) {
      return -1;
    }
  }

  /**
   * Returns the thread whose code runs on the carrier: the simulated thread, or the carrier itself.
   */
  private Thread holder(@Nullable SimulatedThread fiber) {
    return fiber == null ? thread : fiber.thread;
  }

  /**
   * Returns whether the running step waits. Returns false between two steps, because the carrier
   * itself never counts as waiting.
   */
  private boolean isWaiting(@Nullable SimulatedThread fiber) {
    return fiber != null && fiber.thread.getState() != Thread.State.RUNNABLE;
  }

  private void loop() {
    while (!isLost) {
      try {
        runs.take().run();
      } catch (InterruptedException ignored) {
        // the interrupt was meant for a run that is over
      }
    }
  }

  /**
   * Gives a run to the carrier. Returns whether the calling thread was interrupted while it waited.
   */
  private boolean putUninterruptibly(Runnable run) {
    for (boolean isInterrupted = false;;) {
      try {
        runs.put(run);
        return isInterrupted;
      } catch (InterruptedException interrupt) {
        isInterrupted = true;
      }
    }
  }

  /** Fails a run whose step holds the carrier, and gives the carrier up. */
  private void onHeld(SimulationRun run, StepWatchdog.StepVerdict verdict, int maxSeconds) {
    var fiber = run.current();
    var stack = new Throwable(fiber + " is here");
    stack.setStackTrace(holder(fiber).getStackTrace());
    var reason = verdict == StepWatchdog.StepVerdict.COMPUTES
        ? " has used " + maxSeconds + " s of processor time in one step"
        : " has waited for " + maxSeconds + " s without leaving its carrier; on Java 21 this also happens in"
            + " synchronized code";
    run.fail(new RunFailure(RunFailure.FailureKind.CARRIER_HELD,
        "held: " + fiber + reason + ". For a debugger, raise this limit: -Dfibry.simulation.patience=3600", stack));
    isLost = true;
    current = null;
  }
}
