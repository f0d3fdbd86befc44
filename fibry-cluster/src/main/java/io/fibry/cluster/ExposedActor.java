package io.fibry.cluster;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorContext;
import io.fibry.ExitReason;
import io.fibry.Exitable;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pubsub.Subscription;
import io.fibry.spi.ForwardingExitable;
import io.fibry.spi.LastingAddress;
import io.fibry.time.Scheduler;
import java.util.Optional;

/**
 * Gives messages of other nodes to an actor of this node. They wait in a mailbox of their own,
 * since the actor's may let senders wait, and the engine's thread must not. Its end begins with
 * that of the subscription, so that what has arrived is given to the actor.
 */
final class ExposedActor<M> extends ForwardingExitable<ExposedActor<M>> {
  private static final int MAX_WAITING = 4_096;
  private static final String GROUP = "n"; // of all nodes that offer the same name

  private record ExposureBegin() {}

  /** The offer ends with its actor. */
  private record ExposureEnd(ExitReason reason) {}

  private final Scheduler clock;
  private final InboundDispatcher<M> dispatcher;
  private final Actor<? super M> actor;
  private final Actor<Object> gate;
  private final Subscription arrivals;
  private volatile boolean isEnding;
  private volatile String endReason = "Stopped"; // the end of the actor, if that was first

  private ExposedActor(ActorBuilder<Object> how, NodeContext nodeContext, String subject,
      InboundDispatcher<M> dispatcher,
      Actor<? super M> actor) {
    this.clock = nodeContext.clock();
    this.dispatcher = dispatcher;
    this.actor = actor;
    this.gate = how.mailbox(Mailbox.bounded(MAX_WAITING, Overflow.REJECT)).newActor(this::handle);
    Subscription begun = null;
    try {
      gate.sendMessage(new ExposureBegin());
      begun = nodeContext.engine().subscribe(subject, Optional.of(GROUP), this::receive);
      gate.closeOnExit(begun, () -> dispatcher.pendingRequests().removeAllOf(this));
    } finally {
      if (begun == null) gate.kill();
    }
    this.arrivals = begun;
  }

  /** Ends with the actor that it answers. */
  static <M> ExposedActor<M> begin(NodeContext nodeContext, String subject, String name, Protocol<M> protocol,
      Actor<? super M> actor) {
    var dispatcher =
        new InboundDispatcher<>(nodeContext.engine(), name, nodeContext.life(), protocol, nodeContext.pendingRequests(),
            () -> true,
            () -> 0, nodeContext.blockBuilder());
    return new ExposedActor<>(nodeContext.newInternalBuilder(), nodeContext, subject, dispatcher, actor);
  }

  /** In words. */
  String endReason() {
    return endReason;
  }

  // ---- its end

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
    arrivals.close(); // messages that were sent to this node arrive before
    isEnding = true;
  }

  // ---- messages

  /** On the engine's thread. */
  private void receive(WireMessage wire) {
    var message = new InboundMessage(wire, this, clock.nanoTime());
    dispatcher.pendingRequests().addWaiting(message);
    if (gate.sendMessage(message)) return;
    dispatcher.pendingRequests().removeWaiting(message);
    dispatcher.refuse(wire, MAX_WAITING, isEnding);
  }

  private void deliver(WireMessage wire) {
    if (wire.header(Route.PRESENCE).isPresent()) dispatcher.acknowledge(wire);
    else if (InboundDispatcher.isTellBundle(wire))
      dispatcher.deliverAll(wire, (one, body) -> one, none -> Optional.of(actor));
    else dispatcher.read(wire).ifPresent(given -> dispatcher.deliver(wire, given, () -> actor));
  }

  private void handle(Object message, ActorContext<Object> context) {
    switch (message) {
      case InboundMessage arrived -> {
        arrived.withRemainingTime(clock).ifPresent(this::deliver); // may wait for room in the mailbox
        dispatcher.pendingRequests().removeWaiting(arrived);
      }
      case ExposureBegin begin -> context.watch(LastingAddress.owner(actor), ExposureEnd::new);
      case ExposureEnd end -> {
        endReason = ReplyCodec.summarize(end.reason);
        isEnding = true;
        context.self().sendPoisonPill();
      }
      default -> throw new AssertionError(message);
    }
  }
}
