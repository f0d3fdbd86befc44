package io.fibry.cluster;

import io.fibry.Actor;
import io.fibry.Exitable;
import io.fibry.Handler;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pubsub.Subscription;
import io.fibry.pubsub.Topic;
import io.fibry.spi.ForwardingExitable;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executor;

/**
 * News for the subscribers of all nodes. Published messages go to the network, and come from there
 * to a topic of this node, which has its subscribers.
 */
final class ClusterTopic<M> extends ForwardingExitable<Topic<M>> implements Topic<M> {
  private static final int MAX_WAITING = 1_024; // then the oldest are dropped

  private final NodeContext around;
  private final String subject;
  private final String name;
  private final Protocol<M> protocol;
  private final Topic<M> localTopic;
  private final Actor<WireMessage> gate;

  private ClusterTopic(NodeContext nodeContext, String subject, String name, Protocol<M> protocol) {
    this.around = nodeContext;
    this.subject = subject;
    this.name = name;
    this.protocol = protocol;
    this.localTopic = Topic.open(nodeContext.scope().named("topic " + name));
    this.gate = nodeContext.newInternalBuilder().mailbox(Mailbox.bounded(MAX_WAITING, Overflow.DROP_OLDEST))
        .newActor(this::onMessage);
    localTopic.closeOnExit(gate::kill);
  }

  /** It gets what is published from now on. */
  static <M> ClusterTopic<M> begin(NodeContext nodeContext, String subject, String name, Protocol<M> protocol) {
    var topic = new ClusterTopic<M>(nodeContext, subject, name, protocol);
    boolean listens = false;
    try {
      topic.localTopic.closeOnExit(nodeContext.engine().subscribe(subject, Optional.empty(), topic.gate::sendMessage));
      listens = true;
      return topic;
    } finally {
      if (!listens) topic.kill();
    }
  }

  Class<M> messages() {
    return protocol.type();
  }

  private void onMessage(WireMessage wire) {
    M message;
    try {
      message = protocol.decode(wire.body());
    } catch (RuntimeException unreadable) {
      UnreadableMessageLog.log("topic '" + name + "' got news", wire, unreadable);
      return;
    }
    around.blockBuilder().contextExecutor(gate, message, Route.context(wire))
        .execute(() -> localTopic.publish(message));
  }

  @Override
  protected Exitable target() {
    return localTopic;
  }

  @Override
  public void publish(M message) {
    if (localTopic.onExit().isDone()) localTopic.publish(message); // its dead letter
    else around.engine().publish(WireMessage.to(subject, headers(message), protocol.encode(message)));
  }

  private Map<String, String> headers(M message) {
    String context = around.blockBuilder().contextText(gate, message);
    return context.isEmpty() ? Map.of(Route.FROM, around.node())
        : Map.of(Route.FROM, around.node(), Route.CONTEXT, context);
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
  public String toString() {
    return "far topic '" + name + "'";
  }
}
