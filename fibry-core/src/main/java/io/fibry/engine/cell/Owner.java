package io.fibry.engine.cell;

import io.fibry.ActorScope;
import io.fibry.Exitable;

/** What an actor needs of the scope that owns it. */
public abstract class Owner {
  /** What the actor that failed does now. */
  public enum Verdict { GO_ON, RESTART, STOP }

  /**
   * What becomes of a failure.
   *
   * @param pause nanoseconds before the restart
   */
  public record Decision(Verdict verdict, long pause) {
    public static final Decision GO_ON = new Decision(Verdict.GO_ON, 0);
    public static final Decision STOP = new Decision(Verdict.STOP, 0);
  }

  public static String checkedName(String name) {
    if (name.isBlank())
      throw new IllegalArgumentException("a blank name tells nobody anything; give one, or use anonymous()");
    return name;
  }

  public abstract String name();

  public abstract ActorScope.Options options();

  public abstract Accounts accounts();

  /** Whether it keeps an actor with this label; null: none. */
  public abstract boolean tracks(String label);

  /** Takes in an actor that it tracks. Throws an IllegalStateException if the scope is closed. */
  public abstract void admit(Exitable actor, String label);

  /**
   * Decides about a failure that reached it, on the thread of the failed actor. The member is that
   * actor, or the scope below in which it failed.
   */
  public abstract Decision decide(Object member, Exitable failed, Throwable failure);

  /** The actor has ended: its name is free. */
  protected abstract void free(Exitable actor, String label);

  /** The actor has ended, and so has the work of its thread. */
  protected abstract void forget(Exitable actor, String label);
}
