package io.fibry.simulation.tap;

import java.net.SocketImpl;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;

/**
 * The machine that a simulated thread sees instead of the real machine. It is the {@link Executor}
 * that schedules its virtual threads. All other methods are called on one of these threads, or on
 * the {@link SimulationThread}.
 */
public interface SimulatedMachine extends Executor {

  /** Returns the time of the run's clock, as {@link System#nanoTime} does. */
  long nanoTime();

  /** Returns the time of the run's wall clock, as {@link System#currentTimeMillis} does. */
  long currentTimeMillis();

  /** Runs a task on the carrier after the given nanoseconds, unless the future is cancelled. */
  Future<?> schedule(Runnable task, long nanos);

  /** Returns the next random number of the run. */
  long random();

  /**
   * Called by a thread that spins: moves the clock, and after many calls lets other threads run.
   */
  void spin();

  /** Returns a thread's number in the run, which is the same in each run of a seed. */
  long idOf(Thread thread);

  /** Returns a factory that makes simulated threads. */
  ThreadFactory threads();

  /** Returns a socket in memory: a server socket if {@code server}, or else a client's socket. */
  SocketImpl socket(boolean server);
}
