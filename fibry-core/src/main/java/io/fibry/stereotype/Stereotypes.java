package io.fibry.stereotype;

import io.fibry.ActorBuilder;
import io.fibry.ActorSystem;
import io.fibry.Exitable;
import io.fibry.FailurePolicy;
import io.fibry.Handler;
import io.fibry.Sink;
import io.fibry.Strategy;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Ready-made actors, one line each. Immutable and thread-safe.
 * {@snippet class="io.fibry.JavadocSnippetsTest" region="stereotypes"}
 */
@SuppressWarnings("exports") // the nullness annotations are for the compiler alone
public final class Stereotypes {
  private final ActorBuilder<?> how;

  private Stereotypes(ActorBuilder<?> how) {
    this.how = how;
  }

  /**
   * With the default strategy.
   *
   * @return recipes
   */
  public static Stereotypes def() {
    return new Stereotypes(ActorSystem.anonymous());
  }

  /**
   * A platform thread each.
   *
   * @return recipes
   */
  public static Stereotypes threads() {
    return Threads.RECIPES;
  }

  /**
   * A virtual thread each, while there is work.
   *
   * @return recipes
   */
  public static Stereotypes fibers() {
    return Fibers.RECIPES;
  }

  /**
   * Made as this builder says: scope, name, strategy, mailbox, failure policy.
   *
   * @param how the builder
   * @return recipes
   */
  public static Stereotypes of(ActorBuilder<?> how) {
    return new Stereotypes(Objects.requireNonNull(how, "how"));
  }

  /**
   * The object as an actor.
   *
   * @param <S> the object
   * @param state the object; with null, an actor around nothing, which hands null to the code it runs
   * @return the actor, at work
   */
  @SuppressWarnings("unchecked") // null is of any type
  public <S> Sink<S> sink(@Nullable S state) {
    return state == null ? (Sink<S>) how.newSink() : how.<S>initialState(() -> state).newSink();
  }

  /**
   * Runs it in a new actor, which then ends; failing ends it too, with {@code ExitReason.Failed}.
   *
   * @param task what to run
   * @return the actor
   */
  public Exitable runOnce(Handler.Task task) {
    return runOnce(FailurePolicy.stop(), Objects.requireNonNull(task, "task"));
  }

  /**
   * The same, handing it its own actor.
   *
   * @param task what to run
   * @return the actor
   */
  public Exitable runOnce(Handler<Exitable> task) {
    return runOnce(FailurePolicy.stop(), task);
  }

  /**
   * Runs it in a new actor, which then ends; its failure is counted and not logged.
   *
   * @param task what to run
   * @return the actor
   */
  public Exitable runOnceSilent(Handler.Task task) {
    return runOnce(FailurePolicy.stop().withoutLog(), Objects.requireNonNull(task, "task"));
  }

  private Exitable runOnce(FailurePolicy policy, Handler.Task task) {
    return runOnce(policy, (Exitable self) -> task.run());
  }

  private Exitable runOnce(FailurePolicy policy, Handler<Exitable> task) {
    Objects.requireNonNull(task, "task");
    var actor = how.onFailure(policy).newSink();
    actor.execAsync(nothing -> task.handle(actor));
    actor.sendPoisonPill();
    return actor;
  }

  private static final class Threads {
    private static final Stereotypes RECIPES = new Stereotypes(ActorSystem.anonymous().strategy(Strategy.THREAD));
  }

  private static final class Fibers {
    private static final Stereotypes RECIPES = new Stereotypes(ActorSystem.anonymous().strategy(Strategy.FIBER));
  }
}
