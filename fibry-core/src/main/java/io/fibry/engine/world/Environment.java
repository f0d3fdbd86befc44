package io.fibry.engine.world;

import java.util.function.Supplier;

/**
 * The environment of a thread: the process, or a simulation. Some objects, such as the root scope,
 * exist once in a process. A simulation has its own instance of each of these objects, so that each
 * run begins without the objects of earlier runs.
 *
 * <p>The engine does not extend this class. It calls the environment only if {@link #simulated} is
 * set. So without a simulation, the only cost is a null check of this field, which most messages do
 * not need.
 */
public abstract class Environment {
  /**
   * The environment of the simulation, or null if no simulation runs in this process. Set before
   * the threads of the simulation start; read by all threads.
   */
  public static Environment simulated;

  protected Environment() {}

  /**
   * {@return the instance that this thread must use} Called for an object that exists once in a
   * process, and once in a simulation.
   *
   * @param <T> the type of the object
   * @param processInstance the instance for threads of the process
   * @param maker makes the instance of a simulation; called by its first thread that needs the
   * instance
   */
  public abstract <T> T instanceFor(T processInstance, Supplier<? extends T> maker);

  /**
   * Called when an actor has failed, or restarts. Must not throw.
   *
   * @param actor an {@code io.fibry.Actor}; this package must not depend on that type
   * @param text describes the event; called when the run has ended
   */
  public abstract void recordEvent(Object actor, Supplier<String> text);
}
