package io.fibry.simulation;

import io.fibry.engine.world.World;
import io.fibry.simulation.tap.Carrier;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The thread on which all simulated threads run. There is one in a JVM, and one run at a time: a
 * second simulation waits for the first. A run that holds it loses it, and the next has another.
 */
final class Stage {
  private static final int PATIENCE = Integer.getInteger("fibry.simulation.patience", 10); // s of one step
  private static final ReentrantLock LOCK = new ReentrantLock(); // held by the thread whose simulation it is
  private static final SynchronousQueue<Runnable> WORK = new SynchronousQueue<>();
  private static Carrier thread; // under the lock; null: none

  private Stage() {}

  static void enter() {
    LOCK.lock();
    World.other = Place.WORLD;
  }

  static void leave() {
    World.other = null;
    LOCK.unlock();
  }

  /** Plays a run to its end, or until it holds its thread for too long. */
  static void play(Run run, Runnable main) {
    if (thread == null) {
      thread = new Carrier(Stage::work, "simulation");
      thread.start();
    }
    var carrier = thread;
    var done = new CountDownLatch(1);
    boolean interrupted = put(() -> {
      carrier.machine = run;
      try {
        run.play(main);
      } finally {
        carrier.machine = null;
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
      if (idle == PATIENCE) isHeld(run, carrier);
    }
    if (interrupted) Thread.currentThread().interrupt();
  }

  private static void work() {
    while (true) {
      try {
        WORK.take().run();
      } catch (InterruptedException stray) {
        // of a run that is over
      }
    }
  }

  private static boolean put(Runnable work) {
    for (boolean interrupted = false;;) {
      try {
        WORK.put(work);
        return interrupted;
      } catch (InterruptedException again) {
        interrupted = true;
      }
    }
  }

  private static void isHeld(Run run, Carrier carrier) {
    var stack = new Throwable(run.current() + " is here");
    stack.setStackTrace(carrier.getStackTrace());
    run.fail(new Failure(Failure.Kind.HELD, "held: " + run.current() + " has run for " + PATIENCE
        + " s, or waits where its thread cannot be taken from it; on Java 21 also in synchronized code", stack));
    thread = null;
  }
}
