package io.fibry.cluster;

import io.fibry.ActorBuilder;
import io.fibry.ActorScope;
import io.fibry.FailurePolicy;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.spi.BlockBuilder;
import io.fibry.time.Scheduler;
import java.time.Duration;

/**
 * The things that each piece of a node works with.
 *
 * @param node its name
 * @param settleTime after nodes came and went, and for messages that have not arrived yet
 * @param pendingRequests requests of other nodes
 */
record NodeContext(ActorScope scope, Scheduler clock, ClusterTransport engine, Subjects subjects, Lease lease,
    Membership membership, String node, Duration settleTime, PendingRequests pendingRequests) {

  /** {@return a builder of internal actors: the scope does not count their messages} */
  ActorBuilder<Object> newInternalBuilder() {
    return newInternalBuilder(scope);
  }

  /** {@return a builder with the carriers and the clock of the node's scope} */
  BlockBuilder<Object> blockBuilder() {
    return BlockBuilder.of(scope.anonymous());
  }

  static ActorBuilder<Object> newInternalBuilder(ActorScope scope) {
    return BlockBuilder.of(scope.anonymous()).excludedFromAccounts().onFailure(FailurePolicy.resume());
  }

  /** How exceptions name a request of this node. */
  String describeRequest(Object request) {
    return BlockBuilder.of(scope.anonymous()).describeRequest(request);
  }

  /** {@return the limit of requests to other nodes that have no limit of their own} */
  Duration askLimit() {
    return BlockBuilder.of(scope.anonymous()).askLimit();
  }

  /** Returns the life of this node, until it has to join again. */
  String life() {
    return node + "." + lease.self().id();
  }
}
