package io.fibry.cluster.remote;

import io.fibry.ActorScope;
import io.fibry.Strategy;
import io.fibry.cluster.membership.InternalActors;
import io.fibry.cluster.membership.Membership;
import io.fibry.cluster.membership.NodeLease;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.cluster.wire.Subjects;
import io.fibry.spi.BlockBuilder;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.concurrent.Executor;

/**
 * The objects that the classes of a node share.
 *
 * @param node the name of the node
 * @param settleTime how long partitions do not move after nodes have joined or left, and how long a
 * node forwards messages of a partition that it has given away
 * @param requests the requests that are not answered yet
 */
public record NodeContext(ActorScope scope, Scheduler clock, ClusterTransport transport, Subjects subjects,
    NodeLease lease,
    Membership membership, String node, Duration settleTime, RequestRegistry requests) {

  /** {@return a builder with the context propagators and the clock of the node's scope} */
  public BlockBuilder<Object> blockBuilder() {
    return BlockBuilder.of(scope.anonymous());
  }

  /**
   * Returns an executor for code that sends the answers of an actor, and refusals of messages. If
   * the transport never waits, the code runs on the calling thread. Otherwise another actor runs
   * it, so the answers of a busy actor need few activations. Answers may also be sent after the
   * offer of the actor has ended; so the scope does not end the other actor, which is garbage after
   * its last answer. A node that leaves waits for these answers; see
   * {@link RequestRegistry#awaitSent}. The actor runs on fibers, because the strategy of the scope
   * may be a user's, or the thread of the sender.
   */
  public Executor newAnswerExecutor() {
    if (transport.publishesWithoutWait()) return Runnable::run;
    var sender = BlockBuilder.of(InternalActors.newBuilder(scope).strategy(Strategy.FIBER)).inOuterScope()
        .newActor(message -> {});
    return sending -> requests.send(sender, sending);
  }

  /** {@return the text by which exceptions name a request of this node} */
  String describeRequest(Object request) {
    return BlockBuilder.of(scope.anonymous()).describeRequest(request);
  }

  /** {@return the limit of a request to another node, if the request has no limit of its own} */
  public Duration askLimit() {
    return BlockBuilder.of(scope.anonymous()).askLimit();
  }

  /** {@return the name and the life of this node; the life changes when the node joins again} */
  public String nameAndLife() {
    return node + "." + lease.self().id();
  }
}
