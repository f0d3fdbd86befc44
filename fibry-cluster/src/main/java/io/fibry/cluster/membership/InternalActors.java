package io.fibry.cluster.membership;

import io.fibry.ActorBuilder;
import io.fibry.ActorScope;
import io.fibry.FailurePolicy;
import io.fibry.spi.BlockBuilder;

/** Builders of the actors of a node that users do not see. */
public final class InternalActors {
  private InternalActors() {}

  /** {@return a builder of actors whose messages the scope does not count} */
  public static ActorBuilder<Object> newBuilder(ActorScope scope) {
    return BlockBuilder.of(scope.anonymous()).excludedFromAccounts().onFailure(FailurePolicy.resume());
  }

  /**
   * {@return a builder of actors that get only events of the node} An event that comes after the
   * end of its actor is ignored, because the node is leaving and no longer needs the event.
   */
  public static ActorBuilder<Object> newEventBuilder(ActorScope scope) {
    return BlockBuilder.of(newBuilder(scope)).ignoreLost(event -> true);
  }
}
