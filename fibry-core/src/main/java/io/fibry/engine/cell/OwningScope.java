package io.fibry.engine.cell;

import io.fibry.ActorScope;
import io.fibry.Exitable;
import io.fibry.engine.jvm.FailureLog;
import io.fibry.text.Lines;
import java.util.Objects;

/** What an actor needs of its scope. */
public abstract class OwningScope {
  public enum Verdict { RESUME, RESTART, STOP }

  /** @param pause nanoseconds before the restart */
  public record Decision(Verdict verdict, long pause) {
    public static final Decision RESUME = new Decision(Verdict.RESUME, 0);
    public static final Decision STOP = new Decision(Verdict.STOP, 0);
  }

  public static String checkedName(String name) {
    if (Objects.requireNonNull(name, "name").isBlank())
      throw new IllegalArgumentException("a blank name tells nobody anything; give one, or use anonymous()");
    if (!name.equals(Lines.escaped(name))) throw new IllegalArgumentException("a name such as \"" + Lines.line(name)
        + "\" would break the lines of logs; give one without control characters");
    return name;
  }

  private final FailureLog failureLog;

  protected OwningScope() {
    this.failureLog = new FailureLog();
  }

  /** With the failure log of another one. */
  OwningScope(OwningScope other) {
    this.failureLog = other.failureLog;
  }

  /** Returns the log of failures that all its actors share. */
  final FailureLog failureLog() {
    return failureLog;
  }

  /** Or an equal one, if it still has one, so that actors that are made alike share it. */
  public <T> T intern(T made) {
    return made;
  }

  protected abstract String name();

  public abstract ActorScope scope();

  /**
   * Opens a new scope inside, for the actors of a block. The label is null for a block without a
   * name. It has the options of this one, failures pass through it, and it keeps actors as this one
   * does.
   */
  public abstract OwningScope openBlockScope(String kind, String label);

  public abstract ActorScope.Options options();

  public abstract Accounts accounts();

  /**
   * Returns whether the scope tracks actors with this label, which is null for actors without a
   * name.
   */
  public abstract boolean isTracked(String label);

  /** Throws an IllegalStateException if the scope is closed. */
  public abstract void admit(Exitable actor, String label);

  /** Runs on the failed actor's thread. The member is that actor, or the scope below with it. */
  public abstract Decision decide(Object member, Exitable failed, Throwable failure);

  /** The actor has ended: its name is free. */
  protected abstract void freeName(Exitable actor, String label);

  /** Its thread is done, too. */
  protected abstract void forget(Exitable actor, String label);
}
