package io.fibry.simulation.tap;

import java.net.SocketImpl;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;

/**
 * What a simulated thread sees in the place of the machine. It is the scheduler of its virtual
 * threads; all other methods are called on one of them, or on the {@link SimulationThread}.
 */
public interface SimulatedMachine extends Executor {

  /** The run's clock, as {@link System#nanoTime}. */
  long nanoTime();

  /** The run's wall clock, as {@link System#currentTimeMillis}. */
  long currentTimeMillis();

  /** Runs a task on the carrier when so many nanoseconds have passed, unless it is cancelled. */
  Future<?> schedule(Runnable task, long nanos);

  /** The next of the run's random numbers. */
  long random();

  /** A thread spins: time passes, and after a while the thread gives way. */
  void spin();

  /** A thread's number in the run, which is the same in each run of a seed. */
  long idOf(Thread thread);

  /** Makes simulated threads. */
  ThreadFactory threads();

  /** Returns a socket in memory, or a server socket. */
  SocketImpl socket(boolean server);
}
