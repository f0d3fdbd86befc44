package io.fibry.engine.cell;

import io.fibry.ActorScope;
import io.fibry.ActorStats.ActorFailure;
import io.fibry.Exitable;
import io.fibry.engine.jvm.FailureLog;
import io.fibry.engine.jvm.MessageTexts;
import io.fibry.engine.jvm.StackTraces;
import io.fibry.engine.message.Diagnosis.HandlerStack;
import io.fibry.text.Lines;
import java.time.Instant;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** The scope that owns an actor, as the actor sees it. */
public abstract class OwningScope {
  public enum Verdict { RESUME, RESTART, STOP }

  /** @param pause nanoseconds before the actor resumes or restarts */
  public record Decision(Verdict verdict, long pause) {
    public static final Decision RESUME = new Decision(Verdict.RESUME, 0);
    public static final Decision STOP = new Decision(Verdict.STOP, 0);
  }

  public static String checkedName(String name) {
    if (Objects.requireNonNull(name, "name").isBlank())
      throw new IllegalArgumentException(
          "a blank name identifies nothing; give a name (anonymous() makes actors without a name)");
    if (!name.equals(Lines.escaped(name))) throw new IllegalArgumentException("a name such as \"" + Lines.line(name)
        + "\" would break the lines of logs; give a name without control characters");
    return name;
  }

  /**
   * A failure that observers may read later. Its text and stack are made when it is first read, so
   * that a failure stays cheap. Until then it keeps the exception in memory. Thread-safe.
   */
  public static final class KeptFailure {
    private static final int MAX_FRAMES = 50; // of a stack

    private final Instant time;
    private volatile Object content; // a Throwable until an observer replaces it by its ActorFailure

    public KeptFailure(Throwable thrown, Instant time) {
      this.content = thrown;
      this.time = time;
    }

    /**
     * Returns the failure as statistics show it. Two observers that read at the same time make
     * equal texts. Runs user code, which makes the text.
     *
     * @param mayShowMessage whether the text of the exception may be shown
     */
    public ActorFailure read(boolean mayShowMessage) {
      if (content instanceof Throwable thrown) content =
          new ActorFailure(time, thrown.getClass().getName(), mayShowMessage ? message(thrown) : Optional.empty(),
              stack(thrown));
      return (ActorFailure) content;
    }

    private static Optional<String> message(Throwable thrown) {
      var text = MessageTexts.describe(thrown);
      var type = thrown.getClass().getName();
      if (text.equals(type)) return Optional.empty();
      return Optional.of(text.startsWith(type + ": ") ? text.substring(type.length() + 2) : text);
    }

    /** Returns the frames of the handler, without the frames of the engine around it. */
    private static List<StackTraceElement> stack(Throwable thrown) {
      try {
        var stack = thrown.getStackTrace();
        int end = 0;
        while (end < stack.length && !StackTraces.isDelivery(stack[end])) end++;
        return List.of(Arrays.copyOf(stack, Math.min(HandlerStack.countHandlerFrames(stack, end), MAX_FRAMES)));
      } catch (Throwable userError) { // getStackTrace may be overridden: it may throw, or return nulls
        return List.of();
      }
    }
  }

  /**
   * The last failure of each of the 100 actors of a scope that failed last, by their names. It
   * keeps no actor in memory. Actors that never fail cost nothing. Thread-safe.
   */
  private static final class LastFailures {
    private static final int MAX_ACTORS = 100;

    private final Map<String, KeptFailure> failures = new LinkedHashMap<>(); // guarded by this; the newest at the end

    synchronized void add(String actor, Throwable thrown, Instant time) {
      failures.remove(actor);
      failures.put(actor, new KeptFailure(thrown, time));
      if (failures.size() > MAX_ACTORS) failures.remove(failures.keySet().iterator().next());
    }

    /**
     * Returns the last failure of the actor; empty if it is not known. Runs user code without the
     * monitor.
     */
    Optional<ActorFailure> find(String actor, boolean mayShowMessage) {
      KeptFailure failure;
      synchronized (this) {
        failure = failures.get(actor);
      }
      return failure == null ? Optional.empty() : Optional.of(failure.read(mayShowMessage));
    }
  }

  private final FailureLog failureLog;
  private volatile LastFailures lastFailures; // null until an actor has failed; made under failureLog's monitor

  protected OwningScope() {
    this.failureLog = new FailureLog();
  }

  /** Makes a scope that shares the failure log of the given scope. */
  OwningScope(OwningScope scope) {
    this.failureLog = scope.failureLog;
  }

  /** Returns the failure log of the scope, which all its actors share. */
  final FailureLog failureLog() {
    return failureLog;
  }

  /** Keeps the failure of an actor of this scope for its statistics. */
  void keepFailure(String actor, Throwable failure, Instant time) {
    var failures = lastFailures;
    if (failures == null) synchronized (failureLog) {
      failures = lastFailures;
      if (failures == null) lastFailures = failures = new LastFailures();
    }
    failures.add(actor, failure, time);
  }

  /** Returns the last failure of an actor with this name; empty if it is not known. */
  public final Optional<ActorFailure> lastFailure(String actor) {
    var failures = lastFailures;
    return failures == null ? Optional.empty() : failures.find(actor, options().mayShowMessageContents());
  }

  /** Forgets all failures, because an exception may keep objects of users in memory. */
  public final void forgetFailures() {
    lastFailures = null;
  }

  /**
   * Returns the object that the scope has stored and that equals {@code value}, or {@code value}
   * itself. Thus actors with equal settings share one object.
   */
  public <T> T intern(T value) {
    return value;
  }

  protected abstract String name();

  public abstract ActorScope scope();

  /**
   * Opens an inner scope for the actors of a block. The inner scope has the options of this scope
   * and passes failures to it. If {@link #isMember isMember(label)}, the inner scope is a member of
   * this scope, and all its actors are members of the inner scope. If not, only the named actors of
   * the block are members of the inner scope.
   *
   * @param kind the kind of the block, which is also the name of the inner scope if the block has
   * no name
   * @param label the name of the block, or null
   */
  public abstract OwningScope openBlockScope(String kind, String label);

  public abstract ActorScope.Options options();

  /** Returns the counts of message outcomes, and the last dead letters. */
  public abstract Accounts accounts();

  /**
   * Returns whether an actor with this label is a member, which the scope lists and ends.
   *
   * @param label the name of the actor, or null
   */
  public abstract boolean isMember(String label);

  /** Adds a member. Throws an IllegalStateException if the scope is closed. */
  public abstract void admit(Exitable actor, String label);

  /**
   * Decides about a failure that the actor's own policy leaves to the scope. Called on the thread
   * of the failed actor.
   *
   * @param member the failed actor, or the inner scope that contains it
   */
  public abstract Decision decide(Object member, Exitable failed, Throwable failure);

  /** Called at the end of an actor. After that, another actor may have its name. */
  protected abstract void freeName(Exitable actor, String label);

  /** Called when no thread uses an ended actor any more. The scope then removes this member. */
  protected abstract void forget(Exitable actor, String label);
}
