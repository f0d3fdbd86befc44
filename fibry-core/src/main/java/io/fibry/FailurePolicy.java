package io.fibry;

import io.fibry.text.Durations;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;

/**
 * Decides what happens when a handler throws. The policy of a scope decides about the failures that
 * its actors escalate. A restarted actor keeps its mailbox and the messages in it. An
 * {@link OutOfMemoryError} stops the actor under any policy. Immutable.
 * {@snippet class="io.fibry.JavadocSnippetsTest" region="policy"}
 */
public final class FailurePolicy {
  /** The action of a policy, named like the factory method of the policy. */
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

    private final String callText;

    Kind(String callText) {
      this.callText = callText;
    }

    /** {@return whether a policy of this kind restarts actors} */
    public boolean isRestart() {
      return this == RESTART || isForScopes();
    }

    /** {@return whether only a scope can have a policy of this kind} */
    public boolean isForScopes() {
      return this == RESTART_ALL || this == RESTART_FROM_FAILED;
    }
  }

  /**
   * How many restarts a policy permits within a period.
   *
   * @param maxRestarts zero or more
   * @param period more than zero
   */
  public record Budget(int maxRestarts, Duration period) {}

  /**
   * How long an actor is suspended before it restarts or resumes.
   *
   * @param initial how long before the first restart or resumption
   * @param max how long at most before each later restart or resumption
   */
  public record Backoff(Duration initial, Duration max) {}

  private static final int MAX_CHOICE_DEPTH = 8;
  // policies without modifiers, by kind; shared, because many actors have such a policy
  private static final FailurePolicy[] UNMODIFIED = unmodifiedPolicies();

  private final Kind kind;
  private final boolean isLogged;
  private final int retries;
  private final int redeliveries;
  private final Budget budget; // null: unlimited
  private final Backoff backoff; // null: none
  private final Function<Throwable, FailurePolicy> choice; // kind CHOOSE only, else null
  private final FailurePolicy requestPolicy; // null: no separate policy, see withRequestFailurePolicy

  private FailurePolicy(Kind kind, boolean isLogged, int retries, int redeliveries, Budget budget, Backoff backoff,
      Function<Throwable, FailurePolicy> choice, FailurePolicy requestPolicy) {
    this.kind = kind;
    this.isLogged = isLogged;
    this.retries = retries;
    this.redeliveries = redeliveries;
    this.budget = budget;
    this.backoff = backoff;
    this.choice = choice;
    this.requestPolicy = requestPolicy;
  }

  private static FailurePolicy unmodified(Kind kind) {
    return UNMODIFIED[kind.ordinal()];
  }

  private static FailurePolicy[] unmodifiedPolicies() {
    var policies = new FailurePolicy[Kind.values().length];
    for (var kind : Kind.values())
      policies[kind.ordinal()] = new FailurePolicy(kind, true, 0, 0, null, null, null, null);
    return policies;
  }

  /**
   * {@return a policy that logs a failure and continues with the next message; this is the default
   * of actors} Failures with the same class and stack are logged at most once per second, with the
   * number of the omitted failures.
   */
  public static FailurePolicy resume() {
    return unmodified(Kind.RESUME);
  }

  /**
   * {@return a policy that logs a failure and continues with a new state} The old state is passed
   * to {@code onStop}, the new state is made before the next message, and stashed messages return
   * to the mailbox.
   */
  public static FailurePolicy restart() {
    return unmodified(Kind.RESTART);
  }

  /**
   * {@return a policy for scopes that restarts all actors of the scope and of the scopes in it} The
   * actors restart in the order in which they were made, each after its current message.
   */
  public static FailurePolicy restartAll() {
    return unmodified(Kind.RESTART_ALL);
  }

  /** {@return a policy for scopes that restarts the failed actor and all actors made after it} */
  public static FailurePolicy restartFromFailed() {
    return unmodified(Kind.RESTART_FROM_FAILED);
  }

  /**
   * {@return a policy that logs a failure and ends the actor with {@link ExitReason.Failed}} As the
   * policy of a scope, it closes the scope; this is the default of scopes. The root scope stays
   * open, and ends the actor instead.
   */
  public static FailurePolicy stop() {
    return unmodified(Kind.STOP);
  }

  /**
   * {@return a policy that leaves the decision to the policy of the actor's scope} As the policy of
   * a scope, it leaves the decision to the next outer scope.
   */
  public static FailurePolicy escalate() {
    return unmodified(Kind.ESCALATE);
  }

  /**
   * {@return a policy that chooses another policy for each exception} If the chosen policy has no
   * budget or backoff, the budget or backoff of this policy applies; but a policy that restarts
   * nothing has no budget. If both policies have retries or redeliveries, the larger number
   * applies. If {@code choice} throws or returns null, the actor stops. A {@link RequestException}
   * does not count as a failure of the actor: see {@link #withRequestFailurePolicy}.
   *
   * @param choice gets the exception and returns a policy; runs on the actor's thread
   */
  public static FailurePolicy choose(Function<Throwable, FailurePolicy> choice) {
    return new FailurePolicy(Kind.CHOOSE, true, 0, 0, null, null, Objects.requireNonNull(choice, "choice"), null);
  }

  /**
   * {@return a copy that restarts at most {@code restarts} times within a period, and escalates
   * further failures}
   *
   * @param restarts how many restarts are permitted within the period; zero or more
   * @param period the period; more than zero
   */
  public FailurePolicy withBudget(int restarts, Duration period) {
    requireRestarting("a budget");
    if (restarts < 0)
      throw new IllegalArgumentException("a budget of " + restarts + " restarts is negative; give zero or more");
    if (!Objects.requireNonNull(period, "period").isPositive())
      throw new IllegalArgumentException(
          "a budget cannot count restarts within " + Durations.text(period) + "; give more than zero");
    return new FailurePolicy(kind, isLogged, retries, redeliveries, new Budget(restarts, period), backoff, choice,
        requestPolicy);
  }

  /**
   * {@return a copy that suspends the actor before it restarts or resumes} Each pause is twice as
   * long as the previous pause, up to {@code max}, and is then shortened at random by up to half. A
   * pause is not shortened if the scope has a {@link io.fibry.time.ManualScheduler}, so that a test
   * knows when it ends. During a pause the messages wait, and the actor has no thread. When the
   * actor has run for longer than {@code max} without a failure, its pauses begin with {@code
   * initial} again.
   *
   * @param initial the first pause; more than zero
   * @param max the longest pause; at least {@code initial}
   */
  public FailurePolicy withBackoff(Duration initial, Duration max) {
    requireContinuing("a backoff");
    if (!Objects.requireNonNull(initial, "initial").isPositive())
      throw new IllegalArgumentException(
          "a backoff of " + Durations.text(initial) + " does not wait; give more than zero");
    if (Objects.requireNonNull(max, "max").compareTo(initial) < 0) throw new IllegalArgumentException(
        "a backoff cannot grow from " + Durations.text(initial) + " to " + Durations.text(max)
            + "; let the second be at least the first");
    return new FailurePolicy(kind, isLogged, retries, redeliveries, budget, new Backoff(initial, max), choice,
        requestPolicy);
  }

  /**
   * {@return a copy that redelivers a failed message before all queued messages} The message is
   * redelivered after the restart, or with the same state if the policy is {@link #resume}. With a
   * backoff, no message is lost or overtaken while, for example, a connection is down. The asker
   * of the message continues to wait. A message that was answered or stashed, or whose asker no
   * longer waits, is not redelivered. A message that fails again after {@code times} redeliveries
   * counts as failed, and the actor continues with the next message. The policy of an actor can
   * redeliver messages, even the policy {@link #escalate}; the policy of a scope cannot.
   * {@snippet class="io.fibry.JavadocSnippetsTest" region="redelivery"}
   *
   * @param times how often one message is redelivered at most; more than zero
   */
  public FailurePolicy withRedelivery(int times) {
    if (kind != Kind.ESCALATE) requireContinuing("a redelivery");
    if (times <= 0) throw new IllegalArgumentException(
        "a message cannot be redelivered " + times + " times; give more than zero, or leave withRedelivery out");
    return new FailurePolicy(kind, isLogged, retries, times, budget, backoff, choice, requestPolicy);
  }

  private void requireContinuing(String modifier) {
    if (kind == Kind.STOP || kind == Kind.ESCALATE) throw new IllegalStateException(this + " does not continue, so "
        + modifier
        + " has no meaning; give it to resume(), restart(), restartAll(), restartFromFailed() or choose(..)");
  }

  private boolean mayRestart() {
    return kind.isRestart() || kind == Kind.CHOOSE;
  }

  private void requireRestarting(String modifier) {
    if (!mayRestart()) throw new IllegalStateException(this + " restarts nothing, so "
        + modifier + " has no meaning; give it to restart(), restartAll(), restartFromFailed() or choose(..)");
  }

  /**
   * {@return a copy that handles a failed message again at once, before any other action} A message
   * that was answered or stashed is not handled again.
   *
   * @param times how often one message is handled again at most; zero or more
   */
  public FailurePolicy withRetries(int times) {
    if (times < 0)
      throw new IllegalArgumentException("a message cannot be retried " + times + " times; give zero or more");
    return new FailurePolicy(kind, isLogged, times, redeliveries, budget, backoff, choice, requestPolicy);
  }

  /**
   * {@return a copy with a separate policy for a {@link RequestException} that the handler throws}
   * The exception means that another actor refused the handler's request, was late or had ended,
   * which does not count as a failure of this actor. Without a separate policy, the actor continues
   * with its state. The actor does not retry, restart or escalate, even if its policy does so for
   * other failures. Its own asker gets the exception, and the message counts as {@link
   * DeadLetter.Reason#NESTED_REQUEST_FAILED}. The log gets at most one line a second, without a
   * stack.
   *
   * @param policy the policy for such exceptions; if it has a separate policy of its own, that
   * separate policy is ignored
   */
  public FailurePolicy withRequestFailurePolicy(FailurePolicy policy) {
    return new FailurePolicy(kind, isLogged, retries, redeliveries, budget, backoff, choice,
        Objects.requireNonNull(policy, "policy"));
  }

  /** {@return a copy that counts failures but does not log them} */
  public FailurePolicy withoutLog() {
    return new FailurePolicy(kind, false, retries, redeliveries, budget, backoff, choice, requestPolicy);
  }

  /**
   * {@return this policy, or the policy that {@link #choose} chooses for the failure} The result is
   * never of kind {@link Kind#CHOOSE}.
   *
   * @param failure the exception of the handler
   * @throws RuntimeException if the choice throws or returns null
   */
  public FailurePolicy resolve(Throwable failure) {
    var policy = this;
    for (int depth = 0; policy.kind == Kind.CHOOSE; depth++) {
      if (depth == MAX_CHOICE_DEPTH) throw new IllegalStateException(
          "choose(..) returned another choose(..) " + MAX_CHOICE_DEPTH + " times; return a policy of another kind");
      policy = policy.addModifiersTo(Objects.requireNonNull(policy.choice.apply(failure),
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
    return isLogged;
  }

  /** {@return how often a failed message is handled again at once} */
  public int retries() {
    return retries;
  }

  /** {@return how often a failed message is redelivered} */
  public int redeliveries() {
    return redeliveries;
  }

  /** {@return how many restarts the policy permits, or empty if it permits any number} */
  public Optional<Budget> budget() {
    return Optional.ofNullable(budget);
  }

  /** {@return how long the policy suspends the actor, or empty if the policy suspends no actor} */
  public Optional<Backoff> backoff() {
    return Optional.ofNullable(backoff);
  }

  /** {@return the separate policy for a {@link RequestException}, or empty if there is none} */
  public Optional<FailurePolicy> requestFailurePolicy() {
    return Optional.ofNullable(requestPolicy);
  }

  /**
   * Returns a copy of the chosen policy with the modifiers of this policy. If both policies have a
   * budget or a backoff, the chosen policy's budget or backoff counts. If both have retries or
   * redeliveries, the larger number counts. A budget does not apply to a policy that restarts
   * nothing.
   */
  private FailurePolicy addModifiersTo(FailurePolicy chosen) {
    return new FailurePolicy(chosen.kind, isLogged && chosen.isLogged, Math.max(retries, chosen.retries),
        Math.max(redeliveries, chosen.redeliveries),
        chosen.budget != null || !chosen.mayRestart() ? chosen.budget : budget,
        chosen.backoff != null ? chosen.backoff : backoff,
        chosen.choice, requestPolicy);
  }

  @Override
  public String toString() {
    return kind.callText + (retries > 0 ? ".withRetries(" + retries + ")" : "")
        + (budget != null ? ".withBudget(" + budget.maxRestarts + ", " + Durations.text(budget.period) + ")" : "")
        + (backoff != null
            ? ".withBackoff(" + Durations.text(backoff.initial) + ", " + Durations.text(backoff.max) + ")"
            : "")
        + (redeliveries > 0 ? ".withRedelivery(" + redeliveries + ")" : "")
        + (requestPolicy != null ? ".withRequestFailurePolicy(" + requestPolicy + ")" : "")
        + (isLogged ? "" : ".withoutLog()");
  }
}
