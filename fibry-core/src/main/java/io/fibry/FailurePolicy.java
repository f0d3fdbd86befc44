package io.fibry;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;

/**
 * What becomes of an actor whose handler throws; for a scope, what becomes of a failure that an
 * actor escalates. Immutable. The mailbox, and what waits in it, survives a restart.
 * {@snippet class="io.fibry.JavadocSnippetsTest" region="policy"}
 */
public final class FailurePolicy {
  /** What a policy does, apart from its modifiers. */
  public enum Kind {
    /** {@link #goOn}. */
    GO_ON("goOn()"),
    /** {@link #restart}. */
    RESTART("restart()"),
    /** {@link #restartAll}. */
    RESTART_ALL("restartAll()"),
    /** {@link #restartRest}. */
    RESTART_REST("restartRest()"),
    /** {@link #stop}. */
    STOP("stop()"),
    /** {@link #escalate}. */
    ESCALATE("escalate()"),
    /** {@link #by}. */
    BY("by(..)");

    private final String call;

    Kind(String call) {
      this.call = call;
    }

    /**
     * Whether it restarts actors.
     *
     * @return true for the three kinds of restarts
     */
    public boolean restarts() {
      return this == RESTART || isForScopes();
    }

    /**
     * Whether only a scope can have it.
     *
     * @return true where it restarts several actors
     */
    public boolean isForScopes() {
      return this == RESTART_ALL || this == RESTART_REST;
    }
  }

  /**
   * How many restarts within which time.
   *
   * @param restarts zero or more
   * @param within more than zero
   */
  public record Budget(int restarts, Duration within) {}

  /**
   * How long messages wait before a restart.
   *
   * @param first before the first restart
   * @param most before any restart
   */
  public record BackOff(Duration first, Duration most) {}

  private static final int DEEPEST_CHOICE = 8;

  private final Kind kind;
  private final boolean logs;
  private final int retries;
  private final Budget budget; // null: unlimited
  private final BackOff backOff; // null: none
  private final Function<Throwable, FailurePolicy> choice; // BY only

  private FailurePolicy(Kind kind, boolean logs, int retries, Budget budget, BackOff backOff,
      Function<Throwable, FailurePolicy> choice) {
    this.kind = kind;
    this.logs = logs;
    this.retries = retries;
    this.budget = budget;
    this.backOff = backOff;
    this.choice = choice;
  }

  private static FailurePolicy of(Kind kind) {
    return new FailurePolicy(kind, true, 0, null, null, null);
  }

  /**
   * Logs it and goes on with the next message. The default of an actor.
   *
   * @return a policy
   */
  public static FailurePolicy goOn() {
    return of(Kind.GO_ON);
  }

  /**
   * Logs it and goes on with a fresh state and the same mailbox: {@code onStop} is called with the
   * old state, the new one is made before the next message, and what was put aside comes back.
   *
   * @return a policy
   */
  public static FailurePolicy restart() {
    return of(Kind.RESTART);
  }

  /**
   * For scopes: restarts all actors of the scope and of those below it, told in the order they were
   * made, each after its current message.
   *
   * @return a policy
   */
  public static FailurePolicy restartAll() {
    return of(Kind.RESTART_ALL);
  }

  /**
   * For scopes: restarts the failed actor and those made after it.
   *
   * @return a policy
   */
  public static FailurePolicy restartRest() {
    return of(Kind.RESTART_REST);
  }

  /**
   * Logs it and ends the actor, with the reason {@link ExitReason.Failed}; for a scope, closes it.
   * The default of a scope; the root, which cannot be closed for good, ends the actor.
   *
   * @return a policy
   */
  public static FailurePolicy stop() {
    return of(Kind.STOP);
  }

  /**
   * Leaves it to the scope; for a scope, to the scope around it.
   *
   * @return a policy
   */
  public static FailurePolicy escalate() {
    return of(Kind.ESCALATE);
  }

  /**
   * Decides by what was thrown. Modifiers of this policy hold where the chosen one has none of its
   * own. When the choice itself fails, the actor stops.
   *
   * @param choice answers a policy for an exception; called on the actor's thread
   * @return a policy
   */
  public static FailurePolicy by(Function<Throwable, FailurePolicy> choice) {
    return new FailurePolicy(Kind.BY, true, 0, null, null, Objects.requireNonNull(choice, "choice"));
  }

  /**
   * More restarts than this within that time: escalates.
   *
   * @param restarts zero or more
   * @param within more than zero
   * @return a changed copy
   */
  public FailurePolicy withBudget(int restarts, Duration within) {
    needsRestart("a budget");
    if (restarts < 0) throw new IllegalArgumentException("a budget of " + restarts + " restarts; give zero or more");
    if (!within.isPositive())
      throw new IllegalArgumentException("a budget within " + within + " has no time to count in; give more than zero");
    return new FailurePolicy(kind, logs, retries, new Budget(restarts, within), backOff, choice);
  }

  /**
   * Waits before a restart, twice as long each time up to {@code most}, by the half less at random;
   * messages wait meanwhile, and no thread is held. After as long as {@code most} without a failure
   * it begins again with {@code first}.
   *
   * @param first more than zero
   * @param most at least {@code first}
   * @return a changed copy
   */
  public FailurePolicy withBackOff(Duration first, Duration most) {
    needsRestart("a back-off");
    if (!first.isPositive())
      throw new IllegalArgumentException("a back-off of " + first + " is none; give more than zero");
    if (most.compareTo(first) < 0) throw new IllegalArgumentException(
        "a back-off of " + first + " that grows to " + most + "; let the second be at least the first");
    return new FailurePolicy(kind, logs, retries, budget, new BackOff(first, most), choice);
  }

  private void needsRestart(String what) {
    if (!kind.restarts() && kind != Kind.BY) throw new IllegalStateException(this + " restarts nothing, so " + what
        + " has no meaning; give it to restart(), restartAll(), restartRest() or by(..)");
  }

  /**
   * Gives the failing message to the handler again so many times, before anything else. Not where
   * its asker has his answer, and not to a handler that put it aside.
   *
   * @param times zero or more
   * @return a changed copy
   */
  public FailurePolicy withRetries(int times) {
    if (times < 0)
      throw new IllegalArgumentException("a message cannot be retried " + times + " times; give zero or more");
    return new FailurePolicy(kind, logs, times, budget, backOff, choice);
  }

  /**
   * The same, but failures are only counted, not logged.
   *
   * @return a changed copy
   */
  public FailurePolicy withoutLog() {
    return new FailurePolicy(kind, false, retries, budget, backOff, choice);
  }

  /**
   * The policy for one failure: this one, or the one that {@code by(..)} chooses.
   *
   * @param failure what the handler threw
   * @return never of kind {@link Kind#BY}
   * @throws RuntimeException what the function given to {@code by(..)} throws, or where it answers null
   */
  public FailurePolicy chosenFor(Throwable failure) {
    var policy = this;
    for (int depth = 0; policy.kind == Kind.BY; depth++) {
      if (depth == DEEPEST_CHOICE) throw new IllegalStateException("by(..) answers by(..) without end");
      policy = policy.within(Objects.requireNonNull(policy.choice.apply(failure),
          "by(..) answered null for a failure; let it answer a policy"));
    }
    return policy;
  }

  /**
   * What it does, apart from its modifiers.
   *
   * @return the kind
   */
  public Kind kind() {
    return kind;
  }

  /**
   * Whether failures are logged.
   *
   * @return false after {@link #withoutLog}
   */
  public boolean logs() {
    return logs;
  }

  /**
   * How often the handler gets a failing message again.
   *
   * @return zero unless {@link #withRetries} says more
   */
  public int retries() {
    return retries;
  }

  /**
   * How many restarts it allows.
   *
   * @return empty: any number
   */
  public Optional<Budget> budget() {
    return Optional.ofNullable(budget);
  }

  /**
   * How long it waits before a restart.
   *
   * @return empty: not at all
   */
  public Optional<BackOff> backOff() {
    return Optional.ofNullable(backOff);
  }

  /** The one chosen by this one: with what this one says besides, where it says nothing itself. */
  private FailurePolicy within(FailurePolicy chosen) {
    return new FailurePolicy(chosen.kind, logs && chosen.logs, Math.max(retries, chosen.retries),
        chosen.budget != null ? chosen.budget : budget, chosen.backOff != null ? chosen.backOff : backOff,
        chosen.choice);
  }

  @Override
  public String toString() {
    return kind.call + (retries > 0 ? ".withRetries(" + retries + ")" : "")
        + (budget != null ? ".withBudget(" + budget.restarts + ", " + budget.within + ")" : "")
        + (backOff != null ? ".withBackOff(" + backOff.first + ", " + backOff.most + ")" : "")
        + (logs ? "" : ".withoutLog()");
  }
}
