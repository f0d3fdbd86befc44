package io.fibry.engine.world;

import java.util.function.Supplier;

/**
 * Where a thread lives: in the process, or in a simulation, which has its own of what a process has
 * once, such as the root scope. Each run thus begins afresh, and leaves nothing behind.
 *
 * <p>The engine extends this nowhere. It asks only where {@link #simulated} is set. So a process
 * without a simulation pays for one comparison with null, and not on the path of a message.
 */
public abstract class Environment {
  /**
   * Null unless a simulation runs in this process. Set before a thread starts that lives in
   * another; read by all.
   */
  public static Environment simulated;

  protected Environment() {}

  /**
   * {@return the object of which this thread sees one instance}
   *
   * @param <T> what
   * @param ofProcess for a thread of the process
   * @param maker called by the first thread of a simulation that asks, unless this was given one
   */
  public abstract <T> T instanceFor(T ofProcess, Supplier<? extends T> maker);

  /**
   * Called where an actor has failed, or restarts. Must not throw.
   *
   * @param actor a {@code io.fibry.Actor}, which this layer does not know
   * @param what a text, made when asked
   */
  public abstract void noteEvent(Object actor, Supplier<String> what);
}
