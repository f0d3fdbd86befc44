package io.fibry;

import io.fibry.text.Durations;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;

/**
 * Decides what happens when a handler throws or, for a scope, when a failure of an actor escalates.
 * Restarts keep the mailbox and its messages. Immutable.
 * {@snippet class="io.fibry.JavadocSnippetsTest" region="policy"}
 */
public final class FailurePolicy {
  /** What a policy does. */
  public enum Kind {
    /** {@link #resume}. */
    RESUME("resume()"),
    /** {@link #restart}. */
    RESTART("restart()"),
    /** {@link #restartAll}. */
    RESTART_ALL("restartAll()"),
    /** {@link #restartFromFailed}. */
    RESTART_FROM_FAILED("restartFromFailed()"),
    /** {@link #stop}. */
    STOP("stop()"),
    /** {@link #escalate}. */
    ESCALATE("escalate()"),
    /** {@link #choose}. */
    CHOOSE("choose(..)");

    private final String call;

    Kind(String call) {
      this.call = call;
    }

    /** {@return whether it restarts actors} */
    public boolean isRestart() {
      return this == RESTART || isForScopes();
    }

    /** {@return whether only scopes can have it} */
    public boolean isForScopes() {
      return this == RESTART_ALL || this == RESTART_FROM_FAILED;
    }
  }

  /**
   * How many restarts within which time.
   *
   * @param maxRestarts zero or more
   * @param period more than zero
   */
  public record Budget(int maxRestarts, Duration period) {}

  /**
   * How long an actor is suspended before it restarts or resumes.
   *
   * @param initial before the first
   * @param max before any
   */
  public record Backoff(Duration initial, Duration max) {}

  private static final int DEEPEST_CHOICE = 8;
  private static final FailurePolicy[] PLAIN = plain(); // by kind: many actors share one

  private final Kind kind;
  private final boolean logs;
  private final int retries;
  private final int redeliveries;
  private final Budget budget; // null: unlimited
  private final Backoff backoff; // null: none
  private final Function<Throwable, FailurePolicy> choice; // BY only
  private final FailurePolicy unanswered; // null: see withRequestFailurePolicy

  private FailurePolicy(Kind kind, boolean logs, int retries, int redeliveries, Budget budget, Backoff backoff,
      Function<Throwable, FailurePolicy> choice, FailurePolicy unanswered) {
    this.kind = kind;
    this.logs = logs;
    this.retries = retries;
    this.redeliveries = redeliveries;
    this.budget = budget;
    this.backoff = backoff;
    this.choice = choice;
    this.unanswered = unanswered;
  }

  private static FailurePolicy of(Kind kind) {
    return PLAIN[kind.ordinal()];
  }

  private static FailurePolicy[] plain() {
    var all = new FailurePolicy[Kind.values().length];
    for (var kind : Kind.values()) all[kind.ordinal()] = new FailurePolicy(kind, true, 0, 0, null, null, null, null);
    return all;
  }

  /**
   * {@return a policy that logs a failure and continues with the next message; the default of
   * actors} Of equal failures it logs one a second, with the number of the others.
   */
  public static FailurePolicy resume() {
    return of(Kind.RESUME);
  }

  /**
   * {@return a policy that logs a failure and continues with a fresh state} The old state is passed
   * to {@code onStop}, the new state is made before the next message, and stashed messages return
   * to the mailbox.
   */
  public static FailurePolicy restart() {
    return of(Kind.RESTART);
  }

  /**
   * {@return for scopes: a policy that restarts all actors in and below it, in the order made, each
   * after its current message}
   */
  public static FailurePolicy restartAll() {
    return of(Kind.RESTART_ALL);
  }

  /** {@return for scopes: a policy that restarts the failed actor and those made after it} */
  public static FailurePolicy restartFromFailed() {
    return of(Kind.RESTART_FROM_FAILED);
  }

  /**
   * {@return a policy that logs a failure and ends the actor with {@link ExitReason.Failed}; for a
   * scope, a policy that closes the scope, which is the default of scopes} The root scope never
   * closes for good, and ends the actor instead.
   */
  public static FailurePolicy stop() {
    return of(Kind.STOP);
  }

  /** {@return a policy that leaves failures to the scope, or the scope around it} */
  public static FailurePolicy escalate() {
    return of(Kind.ESCALATE);
  }

  /**
   * {@return a policy that chooses one by what was thrown} Its modifiers hold where the chosen one
   * has none. If the choice fails, the actor stops. A {@link RequestException} is no failure of the
   * actor: see {@link #withRequestFailurePolicy}.
   *
   * @param choice returns a policy; runs on the actor's thread
   */
  public static FailurePolicy choose(Function<Throwable, FailurePolicy> choice) {
    return new FailurePolicy(Kind.CHOOSE, true, 0, 0, null, null, Objects.requireNonNull(choice, "choice"), null);
  }

  /**
   * {@return a copy that escalates after more restarts within this time}
   *
   * @param restarts zero or more
   * @param within more than zero
   */
  public FailurePolicy withBudget(int restarts, Duration within) {
    needsRestart("a budget");
    if (restarts < 0) throw new IllegalArgumentException("a budget of " + restarts + " restarts; give zero or more");
    if (!Objects.requireNonNull(within, "within").isPositive())
      throw new IllegalArgumentException(
          "a budget cannot count restarts within " + Durations.text(within) + "; give more than zero");
    return new FailurePolicy(kind, logs, retries, redeliveries, new Budget(restarts, within), backoff, choice,
        unanswered);
  }

  /**
   * {@return a copy that suspends the actor before it restarts or resumes} Each pause is twice as
   * long as the last, up to {@code most}, and is shortened at random by up to half. Messages wait
   * meanwhile, and no thread is held. After {@code most} without failure it starts over.
   *
   * @param first more than zero
   * @param most at least {@code first}
   */
  public FailurePolicy withBackoff(Duration first, Duration most) {
    mayGoOn("a back-off");
    if (!Objects.requireNonNull(first, "first").isPositive())
      throw new IllegalArgumentException(
          "a back-off of " + Durations.text(first) + " does not wait; give more than zero");
    if (Objects.requireNonNull(most, "most").compareTo(first) < 0) throw new IllegalArgumentException(
        "a back-off cannot grow from " + Durations.text(first) + " to " + Durations.text(most)
            + "; let the second be at least the first");
    return new FailurePolicy(kind, logs, retries, redeliveries, budget, new Backoff(first, most), choice, unanswered);
  }

  /**
   * {@return a copy that redelivers a failed message before all waiting messages} That happens
   * after the restart, or with the same state if the policy is {@link #resume}. With a back-off no
   * message is lost or overtaken while, for example, a connection is down. The asker of the message
   * continues to wait. A message that was answered or stashed, or whose asker no longer waits, is
   * not redelivered. When it has been redelivered {@code times} times and fails once more, it has
   * failed, and the actor continues with the next message. This belongs to an actor's policy, also
   * to {@link #escalate}.
   * {@snippet class="io.fibry.JavadocSnippetsTest" region="redelivery"}
   *
   * @param times in a row, for one message; more than zero
   */
  public FailurePolicy withRedelivery(int times) {
    if (kind != Kind.ESCALATE) mayGoOn("a redelivery");
    if (times <= 0) throw new IllegalArgumentException(
        "a message cannot be given again " + times + " times; give more than zero, or leave withRedelivery out");
    return new FailurePolicy(kind, logs, retries, times, budget, backoff, choice, unanswered);
  }

  private void mayGoOn(String what) {
    if (kind == Kind.STOP || kind == Kind.ESCALATE) throw new IllegalStateException(this + " does not go on, so " + what
        + " has no meaning; give it to resume(), restart(), restartAll(), restartFromFailed() or choose(..)");
  }

  private void needsRestart(String what) {
    if (!kind.isRestart() && kind != Kind.CHOOSE) throw new IllegalStateException(this + " restarts nothing, so " + what
        + " has no meaning; give it to restart(), restartAll(), restartFromFailed() or choose(..)");
  }

  /**
   * {@return a copy that first repeats a failed message at once, unless it was answered or stashed}
   *
   * @param times zero or more
   */
  public FailurePolicy withRetries(int times) {
    if (times < 0)
      throw new IllegalArgumentException("a message cannot be retried " + times + " times; give zero or more");
    return new FailurePolicy(kind, logs, times, redeliveries, budget, backoff, choice, unanswered);
  }

  /**
   * {@return a copy with a policy of its own for a {@link RequestException} that leaves the
   * handler} In that case another actor refused the handler's request, was late or had ended, which
   * is no failure of this actor. Without such a policy, the actor continues with its state: it does
   * not retry, restart or escalate, even if its policy does so for other failures. Its own asker
   * gets the exception, and the message counts as {@link DeadLetter.Reason#NESTED_REQUEST_FAILED}.
   * The log has one line a second at most, without a stack.
   *
   * @param policy for such exceptions; that it has one itself means nothing
   */
  public FailurePolicy withRequestFailurePolicy(FailurePolicy policy) {
    return new FailurePolicy(kind, logs, retries, redeliveries, budget, backoff, choice,
        Objects.requireNonNull(policy, "policy"));
  }

  /** {@return a copy that counts failures but does not log them} */
  public FailurePolicy withoutLog() {
    return new FailurePolicy(kind, false, retries, redeliveries, budget, backoff, choice, unanswered);
  }

  /**
   * {@return this policy, or what {@code by(..)} chooses; never of kind {@link Kind#CHOOSE}}
   *
   * @param failure the exception of the handler
   * @throws RuntimeException if the choice throws or returns null
   */
  public FailurePolicy resolve(Throwable failure) {
    var policy = this;
    for (int depth = 0; policy.kind == Kind.CHOOSE; depth++) {
      if (depth == DEEPEST_CHOICE) throw new IllegalStateException("choose(..) chooses choose(..) without end");
      policy = policy.within(Objects.requireNonNull(policy.choice.apply(failure),
          "choose(..) returned null for a failure; return a policy"));
    }
    return policy;
  }

  /** {@return the action of this policy} */
  public Kind kind() {
    return kind;
  }

  /** {@return whether failures are logged} */
  public boolean isLogged() {
    return logs;
  }

  /** {@return how often a failed message is repeated} */
  public int retries() {
    return retries;
  }

  /** {@return how often a failed message is given again} */
  public int redeliveries() {
    return redeliveries;
  }

  /** {@return how many restarts the policy permits, or empty if any number} */
  public Optional<Budget> budget() {
    return Optional.ofNullable(budget);
  }

  /** {@return how long the policy suspends the actor, or empty if not at all} */
  public Optional<Backoff> backoff() {
    return Optional.ofNullable(backoff);
  }

  /** {@return the policy for requests of the handler that were not answered, if it has one} */
  public Optional<FailurePolicy> requestFailurePolicy() {
    return Optional.ofNullable(unanswered);
  }

  /** The chosen policy, with this one's modifiers where it has none. */
  private FailurePolicy within(FailurePolicy chosen) {
    return new FailurePolicy(chosen.kind, logs && chosen.logs, Math.max(retries, chosen.retries),
        Math.max(redeliveries, chosen.redeliveries), chosen.budget != null ? chosen.budget : budget,
        chosen.backoff != null ? chosen.backoff : backoff,
        chosen.choice, unanswered);
  }

  @Override
  public String toString() {
    return kind.call + (retries > 0 ? ".withRetries(" + retries + ")" : "")
        + (budget != null ? ".withBudget(" + budget.maxRestarts + ", " + Durations.text(budget.period) + ")" : "")
        + (backoff != null
            ? ".withBackoff(" + Durations.text(backoff.initial) + ", " + Durations.text(backoff.max) + ")"
            : "")
        + (redeliveries > 0 ? ".withRedelivery(" + redeliveries + ")" : "")
        + (unanswered != null ? ".withRequestFailurePolicy(" + unanswered + ")" : "") + (logs ? "" : ".withoutLog()");
  }
}
