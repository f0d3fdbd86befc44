package io.fibry;

import io.fibry.mailbox.Mailbox;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;

/** Knows the actors made in it by their names, and how they are made unless told otherwise. Thread-safe. */
public interface ActorScope {

  /**
   * Its name.
   *
   * @return "root" for the root
   */
  String name();

  /**
   * For actors without a name.
   *
   * @return a builder
   */
  ActorBuilder<Object> anonymous();

  /**
   * For an actor with this name, unique among the living of the scope.
   *
   * @param name not blank
   * @return a builder
   */
  ActorBuilder<Object> named(String name);

  /**
   * The living actor that was made with this name and {@code protocol}.
   *
   * @param <M> its messages
   * @param name its name
   * @param protocol what it was made with
   * @return empty if there is none
   */
  <M> Optional<Actor<M>> find(String name, Class<M> protocol);

  /** How a scope treats its actors. Immutable. */
  final class Options {
    static final Options DEFAULT = new Options(Strategy.FIBER, Mailbox.unbounded(), Duration.ofSeconds(30), Duration.ofSeconds(1), letter -> {}, Scheduler.system());

    final Strategy strategy;
    final Mailbox<Object> mailbox;
    final Duration askLimit;
    final Duration grace;
    final Consumer<DeadLetter> deadLetters;
    final Scheduler scheduler;

    private Options(Strategy strategy, Mailbox<Object> mailbox, Duration askLimit, Duration grace, Consumer<DeadLetter> deadLetters, Scheduler scheduler) {
      this.strategy = Objects.requireNonNull(strategy, "strategy");
      this.mailbox = Objects.requireNonNull(mailbox, "mailbox");
      this.askLimit = Objects.requireNonNull(askLimit, "askLimit");
      this.grace = Objects.requireNonNull(grace, "grace");
      this.deadLetters = Objects.requireNonNull(deadLetters, "deadLetters");
      this.scheduler = Objects.requireNonNull(scheduler, "scheduler");
    }

    /**
     * How actors get a thread, unless told.
     *
     * @param strategy {@link Strategy#FIBER} unless changed
     * @return a changed copy
     */
    public Options withStrategy(Strategy strategy) {
      return new Options(strategy, mailbox, askLimit, grace, deadLetters, scheduler);
    }

    /**
     * How messages wait, unless told.
     *
     * @param mailbox {@link Mailbox#unbounded()} unless changed
     * @return a changed copy
     */
    public Options withMailbox(Mailbox<Object> mailbox) {
      return new Options(strategy, mailbox, askLimit, grace, deadLetters, scheduler);
    }

    /**
     * How long {@code ask} waits when it is not told.
     *
     * @param limit 30 seconds unless changed; more than zero
     * @return a changed copy
     */
    public Options withAskLimit(Duration limit) {
      if (!limit.isPositive()) throw new IllegalArgumentException("an ask limit of " + limit + " leaves no time for an answer; give more than zero");
      return new Options(strategy, mailbox, limit, grace, deadLetters, scheduler);
    }

    /**
     * How long a handler that was interrupted by {@code kill} has to obey.
     *
     * @param grace 1 second unless changed; zero cuts off at once
     * @return a changed copy
     */
    public Options withGrace(Duration grace) {
      if (grace.isNegative()) throw new IllegalArgumentException("a grace of " + grace + " lies in the past; give zero or more");
      return new Options(strategy, mailbox, askLimit, grace, deadLetters, scheduler);
    }

    /**
     * Sees every dead letter, on the thread it happens on. Must be quick; what it throws is logged; a dead letter made inside it is counted only.
     *
     * @param listener called by many threads at once
     * @return a changed copy
     */
    public Options withDeadLetters(Consumer<DeadLetter> listener) {
      return new Options(strategy, mailbox, askLimit, grace, listener, scheduler);
    }

    /**
     * What timers, limits and graces are measured by.
     *
     * @param scheduler {@link Scheduler#system()} unless changed
     * @return a changed copy
     */
    public Options withScheduler(Scheduler scheduler) {
      return new Options(strategy, mailbox, askLimit, grace, deadLetters, scheduler);
    }
  }
}
