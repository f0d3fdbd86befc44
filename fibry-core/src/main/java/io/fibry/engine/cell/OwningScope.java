package io.fibry.engine.cell;

import io.fibry.ActorScope;
import io.fibry.Exitable;
import io.fibry.engine.jvm.FailureLog;
import io.fibry.text.Lines;
import java.util.Objects;

/** The scope that owns an actor, as the actor sees it. */
public abstract class OwningScope {
  public enum Verdict { RESUME, RESTART, STOP }

  /** @param pause nanoseconds before the restart */
  public record Decision(Verdict verdict, long pause) {
    public static final Decision RESUME = new Decision(Verdict.RESUME, 0);
    public static final Decision STOP = new Decision(Verdict.STOP, 0);
  }

  public static String checkedName(String name) {
    if (Objects.requireNonNull(name, "name").isBlank())
      throw new IllegalArgumentException("a blank name identifies no actor; give a name, or use anonymous()");
    if (!name.equals(Lines.escaped(name))) throw new IllegalArgumentException("a name such as \"" + Lines.line(name)
        + "\" would break the lines of logs; give one without control characters");
    return name;
  }

  private final FailureLog failureLog;

  protected OwningScope() {
    this.failureLog = new FailureLog();
  }

  /** Makes a scope that shares the failure log of the given scope. */
  OwningScope(OwningScope scope) {
    this.failureLog = scope.failureLog;
  }

  /** Returns the log of failures that all actors of the scope share. */
  final FailureLog failureLog() {
    return failureLog;
  }

  /**
   * Returns an equal object that the scope has stored, or this one, so that equal actors share it.
   */
  public <T> T intern(T value) {
    return value;
  }

  protected abstract String name();

  public abstract ActorScope scope();

  /**
   * Opens an inner scope for the actors of a block. The inner scope has the options of this scope,
   * passes failures to it, and keeps actors in the same way.
   *
   * @param label the name of the block, or null
   */
  public abstract OwningScope openBlockScope(String kind, String label);

  public abstract ActorScope.Options options();

  public abstract Accounts accounts();

  /**
   * Returns whether the scope tracks actors with this label.
   *
   * @param label the name of the actor, or null
   */
  public abstract boolean isTracked(String label);

  /** Adds a member. Throws an IllegalStateException if the scope is closed. */
  public abstract void admit(Exitable actor, String label);

  /**
   * Decides about a failure, on the thread of the failed actor.
   *
   * @param member the failed actor, or the inner scope that contains it
   */
  public abstract Decision decide(Object member, Exitable failed, Throwable failure);

  /** Called at the end of an actor, whose name another actor may then have. */
  protected abstract void freeName(Exitable actor, String label);

  /** Called when the last thread of an ended actor no longer needs it. */
  protected abstract void forget(Exitable actor, String label);
}
