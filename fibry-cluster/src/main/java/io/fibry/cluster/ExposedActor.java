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
  private static final int WAITING = 4_096;
  private static final String GROUP = "n"; // of all nodes that offer the same name

  private record ExposureBegin() {}

  /** The offer ends with its actor. */
  private record ExposureEnd(ExitReason why) {}

  private final Scheduler clock;
  private final InboundDispatcher<M> reception;
  private final Actor<? super M> actor;
  private final Actor<Object> gate;
  private final Subscription arrivals;
  private volatile boolean ending;
  private volatile String why = "Stopped"; // the end of the actor, if that was first

  private ExposedActor(ActorBuilder<Object> how, NodeContext around, String subject, InboundDispatcher<M> reception,
      Actor<? super M> actor) {
    this.clock = around.clock();
    this.reception = reception;
    this.actor = actor;
    this.gate = how.mailbox(Mailbox.bounded(WAITING, Overflow.REJECT)).newActor(this::handle);
    Subscription begun = null;
    try {
      gate.sendMessage(new ExposureBegin());
      begun = around.engine().subscribe(subject, Optional.of(GROUP), this::receive);
      gate.closeOnExit(begun, () -> reception.underWay().dropped(this));
    } finally {
      if (begun == null) gate.kill();
    }
    this.arrivals = begun;
  }

  /** Ends with the actor that it answers. */
  static <M> ExposedActor<M> begin(NodeContext around, String subject, String name, Protocol<M> protocol,
      Actor<? super M> actor) {
    var reception =
        new InboundDispatcher<>(around.engine(), name, around.life(), protocol, around.underWay(), () -> true,
            () -> 0, around.how());
    return new ExposedActor<>(around.own(), around, subject, reception, actor);
  }

  /** In words. */
  String why() {
    return why;
  }

  // ---- its end

  @Override
  protected Exitable target() {
    return gate;
  }

  @Override
  public void askExit() {
    listenNoMore();
    super.askExit();
  }

  @Override
  public void sendPoisonPill() {
    listenNoMore();
    super.sendPoisonPill();
  }

  @Override
  public void kill() {
    ending = true;
    super.kill();
  }

  @Override
  public void close() {
    listenNoMore();
    super.close();
  }

  private void listenNoMore() {
    arrivals.close(); // messages that were sent to this node arrive before
    ending = true;
  }

  // ---- messages

  /** On the engine's thread. */
  private void receive(WireMessage wire) {
    var message = new InboundMessage(wire, this, clock.nanoTime());
    reception.underWay().arrived(message);
    if (gate.sendMessage(message)) return;
    reception.underWay().left(message);
    reception.refuse(wire, WAITING, ending);
  }

  private void give(WireMessage wire) {
    if (wire.header(Route.THERE).isPresent()) reception.confirm(wire);
    else if (InboundDispatcher.areTells(wire)) reception.giveAll(wire, (one, body) -> one, none -> Optional.of(actor));
    else reception.read(wire).ifPresent(given -> reception.give(wire, given, () -> actor));
  }

  private void handle(Object message, ActorContext<Object> context) {
    switch (message) {
      case InboundMessage arrived -> {
        arrived.now(clock).ifPresent(this::give); // may wait for room in the mailbox
        reception.underWay().left(arrived);
      }
      case ExposureBegin begin -> context.watch(LastingAddress.owner(actor), ExposureEnd::new);
      case ExposureEnd end -> {
        why = ReplyCodec.brief(end.why);
        ending = true;
        context.self().sendPoisonPill();
      }
      default -> throw new AssertionError(message);
    }
  }
}
