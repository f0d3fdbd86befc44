package io.fibry.cluster.remote;

import io.fibry.Actor;
import io.fibry.Exitable;
import io.fibry.Handler;
import io.fibry.cluster.membership.InternalActors;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.cluster.wire.Destination;
import io.fibry.cluster.wire.Protocol;
import io.fibry.cluster.wire.UnreadableMessageLog;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pubsub.Subscription;
import io.fibry.pubsub.Topic;
import io.fibry.spi.ForwardingExitable;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executor;

/**
 * A topic with subscribers on all nodes. Published messages go to the network, and from there to a
 * local topic of each node, which has the subscribers of the node.
 */
public final class ClusterTopic<M> extends ForwardingExitable<Topic<M>> implements Topic<M> {
  private static final int MAX_WAITING = 1_024; // messages from the network; when more wait, the oldest are dropped

  private final NodeContext nodeContext;
  private final String subject;
  private final String name;
  private final Protocol<M> protocol;
  private final Topic<M> localTopic;
  private final Actor<WireMessage> receiver;

  private ClusterTopic(NodeContext nodeContext, String subject, String name, Protocol<M> protocol) {
    this.nodeContext = nodeContext;
    this.subject = subject;
    this.name = name;
    this.protocol = protocol;
    this.localTopic = Topic.open(nodeContext.scope().named("topic " + name));
    this.receiver =
        InternalActors.newBuilder(nodeContext.scope()).mailbox(Mailbox.bounded(MAX_WAITING, Overflow.DROP_OLDEST))
            .newActor(this::onMessage);
    localTopic.closeOnExit(receiver::kill);
  }

  /** Returns a topic that gets the messages that are published from now on. */
  public static <M> ClusterTopic<M> begin(NodeContext nodeContext, String subject, String name, Protocol<M> protocol) {
    var topic = new ClusterTopic<M>(nodeContext, subject, name, protocol);
    boolean isSubscribed = false;
    try {
      topic.localTopic
          .closeOnExit(nodeContext.transport().subscribe(subject, Optional.empty(), topic.receiver::sendMessage));
      isSubscribed = true;
      return topic;
    } finally {
      if (!isSubscribed) topic.kill();
    }
  }

  public Class<M> messageType() {
    return protocol.type();
  }

  private void onMessage(WireMessage wire) {
    M message;
    try {
      message = protocol.decode(wire.body());
    } catch (RuntimeException failure) {
      UnreadableMessageLog.log("topic '" + name + "' got a message", wire, failure);
      return;
    }
    nodeContext.blockBuilder().contextExecutor(receiver, message, Destination.contextOf(wire))
        .execute(() -> localTopic.publish(message));
  }

  @Override
  protected Exitable target() {
    return localTopic;
  }

  @Override
  public void publish(M message) {
    if (localTopic.onExit().isDone()) localTopic.publish(message); // makes it a dead letter
    else nodeContext.transport().publish(WireMessage.oneWay(subject, headers(message), protocol.encode(message)));
  }

  private Map<String, String> headers(M message) {
    String context = nodeContext.blockBuilder().contextText(receiver, message);
    return context.isEmpty() ? Map.of(Destination.FROM, nodeContext.node())
        : Map.of(Destination.FROM, nodeContext.node(), Destination.CONTEXT, context);
  }

  @Override
  public Subscription subscribe(Actor<? super M> subscriber) {
    return localTopic.subscribe(subscriber);
  }

  @Override
  public Subscription subscribeToLatest(Handler<M> subscriber) {
    return localTopic.subscribeToLatest(subscriber);
  }

  @Override
  public Subscription subscribe(Mailbox<? super M> mailbox, Handler<M> subscriber) {
    return localTopic.subscribe(mailbox, subscriber);
  }

  @Override
  public Subscription subscribeOn(Executor executor, Handler<M> subscriber) {
    return localTopic.subscribeOn(executor, subscriber);
  }

  @Override
  public List<SubscriberStats> subscribers() {
    return localTopic.subscribers();
  }

  @Override
  public TopicStats stats() {
    return localTopic.stats();
  }

  @Override
  public String toString() {
    return "remote topic '" + name + "'";
  }
}
