package io.fibry.cluster.remote;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorContext;
import io.fibry.ExitReason;
import io.fibry.Exitable;
import io.fibry.cluster.Cluster;
import io.fibry.cluster.membership.InternalActors;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.cluster.wire.Destination;
import io.fibry.cluster.wire.Protocol;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pubsub.Subscription;
import io.fibry.spi.ForwardingExitable;
import io.fibry.spi.PromptReceiver;
import io.fibry.spi.StableAddress;
import io.fibry.text.SafeLogger;
import io.fibry.time.Scheduler;
import java.util.Optional;

/**
 * An offer: gives messages of other nodes to an actor of this node. The thread of the transport
 * must not wait. So it sends to the actor itself only if that never waits; see
 * {@link PromptReceiver}. Otherwise the messages wait in the mailbox of a second actor, the gate,
 * until the offered actor has capacity. The gate refuses messages when it is full; messages that
 * pass no gate are bounded by the mailbox of the offered actor only. When the offer ends, its
 * direct route ends first, and then its subscription. So the actor still gets the messages that
 * have arrived, and no request overtakes them.
 */
public final class ExposedActor<M> extends ForwardingExitable<ExposedActor<M>> {
  private static final int MAX_WAITING = 4_096; // messages in the mailbox of the gate
  private static final String GROUP = "n"; // all nodes that offer the name; one node of the group gets each message

  private record OfferBegun() {}

  /** Tells the gate that the actor has ended, so that the offer ends. */
  private record OfferedActorEnded(ExitReason reason) {}

  private final Scheduler clock;
  private final InboundDispatcher<M> dispatcher;
  private final Actor<? super M> actor;
  private final boolean isPrompt; // whether the thread of the transport may send to the actor
  private final Actor<Object> gate;
  private final Subscription arrivals; // passes the messages of other nodes to the gate
  private volatile boolean isEnding;
  private final Optional<DirectRoute<M>> directRoute; // of askers of this node; empty if there is none
  // why the offer ended: "Stopped", or the exit reason of the actor if that ended first
  private volatile String endReason = "Stopped";

  private ExposedActor(ActorBuilder<Object> builder, NodeContext nodeContext, String subject,
      InboundDispatcher<M> dispatcher,
      Actor<? super M> actor) {
    this.clock = nodeContext.clock();
    this.dispatcher = dispatcher;
    this.actor = actor;
    this.isPrompt = PromptReceiver.isPrompt(actor);
    this.directRoute = DirectRoute.open(nodeContext, dispatcher, actor);
    this.gate = builder.mailbox(Mailbox.bounded(MAX_WAITING, Overflow.REJECT)).newActor(this::handle);
    Subscription subscription = null;
    try {
      gate.sendMessage(new OfferBegun());
      subscription = nodeContext.transport().subscribe(subject, Optional.of(GROUP), this::receive);
      gate.closeOnExit(subscription, () -> directRoute.ifPresent(DirectRoute::close),
          () -> dispatcher.requests().removeAllOf(this));
    } finally {
      if (subscription == null) gate.kill();
    }
    this.arrivals = subscription;
  }

  /** Begins an offer, which ends with its actor. */
  public static <M> ExposedActor<M> begin(NodeContext nodeContext, String subject, String name, Protocol<M> protocol,
      Actor<? super M> actor) {
    var dispatcher =
        new InboundDispatcher<>(nodeContext.transport(), name, nodeContext.nameAndLife(), protocol,
            nodeContext.requests(),
            () -> true,
            () -> 0, nodeContext.blockBuilder(), nodeContext.newAnswerExecutor());
    return new ExposedActor<>(InternalActors.newBuilder(nodeContext.scope()), nodeContext, subject, dispatcher, actor);
  }

  /** {@return why the offer ended, as a text} */
  public String endReason() {
    return endReason;
  }

  /** {@return the way of requests of this node to the actor; empty if there is only the network} */
  public Optional<DirectRoute<M>> directRoute() {
    return directRoute;
  }

  // ---- the end

  @Override
  protected Exitable target() {
    return gate;
  }

  @Override
  public void askExit() {
    stopListening();
    super.askExit();
  }

  @Override
  public void sendPoisonPill() {
    stopListening();
    super.sendPoisonPill();
  }

  @Override
  public void kill() {
    isEnding = true;
    super.kill();
  }

  @Override
  public void close() {
    stopListening();
    super.close();
  }

  private void stopListening() {
    directRoute.ifPresent(DirectRoute::close); // first, so that no request overtakes messages that arrive
    arrivals.close(); // returns when the messages that were sent to this node have arrived
    isEnding = true;
  }

  // ---- messages

  /** Called on a thread of the transport, with one message after the other. */
  private void receive(WireMessage wire) {
    var message = new InboundMessage(wire, this, clock.nanoTime());
    dispatcher.requests().addWaiting(message); // another thread of the transport may cancel it
    if (isPrompt && !isEnding) deliverPromptly(message);
    else passToGate(message);
  }

  /** Gives a message to the actor. No earlier message waits in the gate, so none is overtaken. */
  private void deliverPromptly(InboundMessage message) {
    try {
      message.withRemainingTime(clock).ifPresent(this::deliver);
    } catch (Throwable error) { // the thread of the transport must survive
      SafeLogger.of(Cluster.class).error("'{}' does not get {}", dispatcher.description(), message.wire(), error);
    } finally {
      dispatcher.requests().removeWaiting(message);
    }
  }

  private void passToGate(InboundMessage message) {
    if (gate.sendMessage(message)) return;
    dispatcher.requests().removeWaiting(message);
    var wire = message.wire();
    String name = dispatcher.description();
    if (isEnding) dispatcher.refuseAsWithdrawn(wire, "a node has just withdrawn its offer of actor '" + name + "'");
    else dispatcher.refuseAsFull(wire,
        "actor '" + name + "' has " + MAX_WAITING + " messages of other nodes waiting already", MAX_WAITING);
  }

  private void deliver(WireMessage wire) {
    if (wire.header(Destination.PRESENCE_QUERY).isPresent()) dispatcher.acknowledge(wire);
    else if (TellBundle.isBundle(wire))
      dispatcher.deliverAll(wire, (target, body) -> target, key -> Optional.of(actor));
    else dispatcher.read(wire).ifPresent(message -> dispatcher.deliver(wire, message, () -> actor));
  }

  private void handle(Object message, ActorContext<Object> context) {
    switch (message) {
      case InboundMessage inbound -> {
        inbound.withRemainingTime(clock).ifPresent(this::deliver); // may wait for capacity of the actor's mailbox
        dispatcher.requests().removeWaiting(inbound);
      }
      case OfferBegun begin -> context.watch(StableAddress.owner(actor), OfferedActorEnded::new);
      case OfferedActorEnded end -> {
        endReason = ReplyCodec.summarize(end.reason);
        isEnding = true;
        context.self().sendPoisonPill();
      }
      default -> throw new AssertionError(message);
    }
  }
}
