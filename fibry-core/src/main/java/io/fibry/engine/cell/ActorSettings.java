package io.fibry.engine.cell;

import io.fibry.ContextPropagator;
import io.fibry.FailurePolicy;
import io.fibry.Strategy;
import java.util.List;
import java.util.function.Predicate;

/**
 * The settings that all actors of one builder share.
 *
 * @param inline whether an asker on a virtual thread may run the handler
 * @param closesFirst whether a closing scope sends the actors their pill before it waits for the
 * end of any member
 * @param excludedFromAccounts whether the messages of the actors do not count, because no user sent
 * them
 * @param isNegligible accepts the internal messages whose loss is not counted and makes no dead
 * letter
 * @param isForClient whether the actors write to a client outside of the process
 * @param ownsThreads whether the library makes the threads, and so may name and interrupt them
 */
public record ActorSettings(OwningScope owner, Strategy strategy, FailurePolicy policy, boolean inline,
    boolean closesFirst,
    boolean excludedFromAccounts, Predicate<Object> isNegligible, boolean isForClient,
    List<ContextPropagator<?>> contextPropagators, boolean ownsThreads) {

  /** The default of {@code isNegligible}: accepts no message. */
  public static final class NoneNegligible implements Predicate<Object> {
    @Override
    public boolean test(Object message) {
      return false;
    }
  }

  public ActorSettings(OwningScope owner, Strategy strategy, FailurePolicy policy, boolean inline, boolean closesFirst,
      boolean excludedFromAccounts, Predicate<Object> isNegligible, boolean isForClient,
      List<ContextPropagator<?>> contextPropagators) {
    this(owner, strategy, policy, inline, closesFirst, excludedFromAccounts, isNegligible, isForClient,
        contextPropagators,
        strategy == Strategy.FIBER || strategy == Strategy.THREAD || strategy == Strategy.RESIDENT_FIBER);
  }

  /**
   * Compares settings by the identity of their parts, because {@code equals} of a strategy or a
   * propagator would be user code.
   */
  @Override
  public boolean equals(Object object) {
    return object instanceof ActorSettings other && owner == other.owner && strategy == other.strategy
        && policy == other.policy && inline == other.inline && closesFirst == other.closesFirst
        && excludedFromAccounts == other.excludedFromAccounts && isNegligible == other.isNegligible
        && isForClient == other.isForClient && contextPropagators == other.contextPropagators;
  }

  @Override
  public int hashCode() {
    return System.identityHashCode(strategy) + 31 * System.identityHashCode(policy);
  }

  /**
   * Returns the settings of a pool, which handles no message itself and needs a thread only to end.
   */
  public ActorSettings forPool() {
    return new ActorSettings(owner, strategy.isResident() ? Strategy.FIBER : strategy, policy, false, false,
        excludedFromAccounts, isNegligible, isForClient, contextPropagators, strategy.isResident() || ownsThreads);
  }
}
