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
  private static final int WAITING = 1_024; // then the oldest are dropped

  private final NodeContext around;
  private final String subject;
  private final String name;
  private final Protocol<M> protocol;
  private final Topic<M> here;
  private final Actor<WireMessage> gate;

  private ClusterTopic(NodeContext around, String subject, String name, Protocol<M> protocol) {
    this.around = around;
    this.subject = subject;
    this.name = name;
    this.protocol = protocol;
    this.here = Topic.open(around.scope().named("topic " + name));
    this.gate = around.own().mailbox(Mailbox.bounded(WAITING, Overflow.DROP_OLDEST)).newActor(this::hear);
    here.closeOnExit(gate::kill);
  }

  /** It gets what is published from now on. */
  static <M> ClusterTopic<M> begin(NodeContext around, String subject, String name, Protocol<M> protocol) {
    var topic = new ClusterTopic<M>(around, subject, name, protocol);
    boolean listens = false;
    try {
      topic.here.closeOnExit(around.engine().subscribe(subject, Optional.empty(), topic.gate::sendMessage));
      listens = true;
      return topic;
    } finally {
      if (!listens) topic.kill();
    }
  }

  Class<M> messages() {
    return protocol.type();
  }

  private void hear(WireMessage wire) {
    M message;
    try {
      message = protocol.decode(wire.body());
    } catch (RuntimeException unreadable) {
      UnreadableMessageLog.log("topic '" + name + "' got news", wire, unreadable);
      return;
    }
    around.how().contextExecutor(gate, message, Route.context(wire)).execute(() -> here.publish(message));
  }

  @Override
  protected Exitable target() {
    return here;
  }

  @Override
  public void publish(M message) {
    if (here.onExit().isDone()) here.publish(message); // its dead letter
    else around.engine().publish(WireMessage.to(subject, headers(message), protocol.encode(message)));
  }

  private Map<String, String> headers(M message) {
    String context = around.how().contextText(gate, message);
    return context.isEmpty() ? Map.of(Route.FROM, around.node())
        : Map.of(Route.FROM, around.node(), Route.CONTEXT, context);
  }

  @Override
  public Subscription subscribe(Actor<? super M> subscriber) {
    return here.subscribe(subscriber);
  }

  @Override
  public Subscription subscribeToLatest(Handler<M> subscriber) {
    return here.subscribeToLatest(subscriber);
  }

  @Override
  public Subscription subscribe(Mailbox<? super M> mailbox, Handler<M> subscriber) {
    return here.subscribe(mailbox, subscriber);
  }

  @Override
  public Subscription subscribeOn(Executor executor, Handler<M> subscriber) {
    return here.subscribeOn(executor, subscriber);
  }

  @Override
  public String toString() {
    return "far topic '" + name + "'";
  }
}
