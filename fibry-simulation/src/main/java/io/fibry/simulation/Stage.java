package io.fibry.simulation;

import io.fibry.engine.world.World;
import io.fibry.simulation.tap.Carrier;
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
final class Stage {
  private static final int PATIENCE = Integer.getInteger("fibry.simulation.patience", 10); // s of one step
  private static final ReentrantLock LOCK = new ReentrantLock(); // held by the thread whose simulation it is
  private static @Nullable Stage stage; // under the lock; null: none

  private final SynchronousQueue<Runnable> work = new SynchronousQueue<>();
  private final Carrier thread = new Carrier(this::work, "simulation");
  private volatile boolean lost; // to a run that held it

  private Stage() {
    thread.start();
  }

  /** An interrupt ends the wait for another simulation. */
  static void enter() {
    try {
      LOCK.lockInterruptibly();
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw new CancellationException("interrupted while it waited for another simulation in this JVM to end");
    }
    World.other = Place.WORLD;
  }

  static void leave() {
    World.other = null;
    LOCK.unlock();
  }

  /** Plays a run to its end, or until it holds its thread for too long. */
  static void play(Run run, Runnable main) {
    if (stage == null) stage = new Stage();
    stage.playHere(run, main);
  }

  private void playHere(Run run, Runnable main) {
    var done = new CountDownLatch(1);
    boolean interrupted = put(() -> {
      thread.machine = run;
      try {
        run.play(main);
      } finally {
        thread.machine = null;
        done.countDown();
      }
    });
    long before = -1;
    for (int idle = 0; idle < PATIENCE;) {
      try {
        if (done.await(1, TimeUnit.SECONDS)) break;
        idle = run.steps() == before ? idle + 1 : 0;
        before = run.steps();
      } catch (InterruptedException again) {
        interrupted = true;
      }
      if (idle == PATIENCE) isHeld(run);
    }
    if (interrupted) Thread.currentThread().interrupt();
  }

  private void work() {
    while (!lost) {
      try {
        work.take().run();
      } catch (InterruptedException stray) {
        // of a run that is over
      }
    }
  }

  private boolean put(Runnable run) {
    for (boolean interrupted = false;;) {
      try {
        work.put(run);
        return interrupted;
      } catch (InterruptedException again) {
        interrupted = true;
      }
    }
  }

  private void isHeld(Run run) {
    var holder = run.current();
    var stack = new Throwable(holder + " is here");
    stack.setStackTrace((holder == null ? thread : holder.thread).getStackTrace());
    run.fail(new Failure(Failure.Kind.HELD, "held: " + run.current() + " has run for " + PATIENCE
        + " s, or waits where its thread cannot be taken from it; on Java 21 also in synchronized code."
        + " A debugger needs more: -Dfibry.simulation.patience=3600", stack));
    lost = true;
    stage = null;
  }
}
