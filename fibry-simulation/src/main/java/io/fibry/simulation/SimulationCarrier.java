package io.fibry.simulation;

import io.fibry.engine.world.Environment;
import io.fibry.simulation.tap.SimulationThread;
import java.lang.management.ManagementFactory;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The thread on which all simulated threads run. There is one in a JVM, and one run at a time: a
 * second simulation waits for the first. A run that holds it loses it, and the next has another.
 */
final class SimulationCarrier {
  static volatile int patience = Integer.getInteger("fibry.simulation.patience", 10); // s of one step; tests change it
  private static final ReentrantLock LOCK = new ReentrantLock(); // held by the thread whose simulation it is
  private static @Nullable SimulationCarrier current; // under the lock; null if there is none

  private final SynchronousQueue<Runnable> work = new SynchronousQueue<>();
  private final SimulationThread thread = new SimulationThread(this::work, "simulation");
  private volatile boolean isLost; // to a run that held it

  private SimulationCarrier() {
    thread.start();
  }

  /** An interrupt ends the wait for another simulation. */
  static void lock() {
    try {
      LOCK.lockInterruptibly();
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw new CancellationException("interrupted while it waited for another simulation in this JVM to end");
    }
    Environment.simulated = FailureDomain.WORLD;
  }

  static void unlock() {
    Environment.simulated = null;
    LOCK.unlock();
  }

  /** Plays a run to its end, or until it holds its thread for too long. */
  static void play(SimulationRun run, Runnable main) {
    if (current == null) current = new SimulationCarrier();
    current.playHere(run, main);
  }

  private void playHere(SimulationRun run, Runnable main) {
    var done = new CountDownLatch(1);
    boolean interrupted = putUninterruptibly(() -> {
      thread.machine = run;
      try {
        run.play(main);
      } finally {
        thread.machine = null;
        done.countDown();
      }
    });
    var watch = new StepWatchdog(patience);
    while (!isLost) {
      try {
        if (done.await(1, TimeUnit.SECONDS)) break;
        var verdict = watch.check(run.steps(), processorTime(), isWaiting(run.current()));
        if (verdict != StepWatchdog.StepVerdict.GOES_ON) onHeld(run, verdict);
      } catch (InterruptedException again) {
        interrupted = true;
      }
    }
    if (interrupted) Thread.currentThread().interrupt();
  }

  /** In ns, of the carrier; -1 if this JVM does not measure it, or runs without java.management. */
  private long processorTime() {
    try {
      return ManagementFactory.getThreadMXBean().getThreadCpuTime(thread.threadId());
    } catch (UnsupportedOperationException | LinkageError unknown) {
      return -1;
    }
  }

  private Thread holder(@Nullable SimulatedThread task) {
    return task == null ? thread : task.thread;
  }

  /** Between two runs the carrier itself waits, until the processor comes round to it. */
  private boolean isWaiting(@Nullable SimulatedThread task) {
    return task != null && task.thread.getState() != Thread.State.RUNNABLE;
  }

  private void work() {
    while (!isLost) {
      try {
        work.take().run();
      } catch (InterruptedException stray) {
        // of a run that is over
      }
    }
  }

  private boolean putUninterruptibly(Runnable run) {
    for (boolean interrupted = false;;) {
      try {
        work.put(run);
        return interrupted;
      } catch (InterruptedException again) {
        interrupted = true;
      }
    }
  }

  private void onHeld(SimulationRun run, StepWatchdog.StepVerdict verdict) {
    var task = run.current();
    var stack = new Throwable(task + " is here");
    stack.setStackTrace(holder(task).getStackTrace());
    var how = verdict == StepWatchdog.StepVerdict.COMPUTES
        ? " has used " + patience + " s of processor time in one step"
        : " has waited for " + patience + " s where its thread cannot be taken from it; on Java 21 also in"
            + " synchronized code";
    run.fail(new RunFailure(RunFailure.FailureKind.CARRIER_HELD,
        "held: " + task + how + ". A debugger needs more: -Dfibry.simulation.patience=3600", stack));
    isLost = true;
    current = null;
  }
}
