package io.fibry.engine.world;

import java.util.function.Supplier;

/**
 * Where a thread lives: in the process, or in a simulation, which has its own of what a process has
 * once, such as the root scope. A run of it thus begins anew, and leaves nothing behind.
 *
 * <p>The engine extends this nowhere. It asks only where {@link #other} is set, so a process
 * without a simulation pays one look at a null, and none of it on the way of a message.
 */
public abstract class World {
  /** Null: none but the process. Set before a thread starts that lives in another; read by all. */
  public static World other;

  protected World() {}

  /**
   * {@return what this thread has once}
   *
   * @param <T> what
   * @param ofProcess for a thread of the process
   * @param maker called by the first thread of a simulation that asks, unless this was given one
   */
  public abstract <T> T single(T ofProcess, Supplier<? extends T> maker);

  /**
   * Called where an actor has failed, or restarts. Must not throw.
   *
   * @param actor a {@code io.fibry.Actor}, which this layer does not know
   * @param what a text, made when asked
   */
  public abstract void note(Object actor, Supplier<String> what);
}
