package io.fibry.cluster;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorContext;
import io.fibry.Exitable;
import io.fibry.FailurePolicy;
import io.fibry.Fronted;
import io.fibry.Request;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pubsub.Subscription;
import java.util.Optional;
import org.slf4j.LoggerFactory;

/**
 * What this node does with messages of others to one of its actors. They wait in a mailbox of their
 * own, since the actor's may let senders wait, and the engine's thread must not. Its end begins
 * with that of the subscription, so that what has arrived is given to the actor.
 */
final class Offer<M> extends Fronted<Offer<M>> {
  private static final int WAITING = 4_096;
  private static final String GROUP = "n"; // of all nodes that offer the same name

  /** Of the offer, which ends with its actor. */
  private enum Life {
    BEGIN, END
  }

  private final Engine engine;
  private final String name;
  private final Protocol<M> protocol;
  private final Actor<? super M> actor;
  private final Actor<Object> gate;
  private final Subscription arrivals;
  private volatile boolean ending;

  private Offer(ActorBuilder<Object> how, Engine engine, String subject, String name, Protocol<M> protocol,
      Actor<? super M> actor) {
    this.engine = engine;
    this.name = name;
    this.protocol = protocol;
    this.actor = actor;
    this.gate = how.mailbox(Mailbox.bounded(WAITING, Overflow.REJECT)).onFailure(FailurePolicy.goOn())
        .newActor(this::handle);
    Subscription begun = null;
    try {
      gate.sendMessage(Life.BEGIN);
      begun = engine.subscribe(subject, Optional.of(GROUP), this::receive);
      gate.closeOnExit(begun);
    } finally {
      if (begun == null) gate.kill();
    }
    this.arrivals = begun;
  }

  /** Ends with the actor that it answers. */
  static <M> Offer<M> begin(ActorBuilder<Object> how, Engine engine, String subject, String name,
      Protocol<M> protocol, Actor<? super M> actor) {
    return new Offer<>(how, engine, subject, name, protocol, actor);
  }

  // ---- its end

  @Override
  protected Exitable front() {
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
    arrivals.close(); // what is on its way here arrives before
    ending = true;
  }

  // ---- messages

  /** On the engine's thread. */
  private void receive(Wire wire) {
    if (!gate.sendMessage(wire)) wire.answerTo()
        .ifPresent(to -> answer(ending ? Outcome.ofGone(to, name) : Outcome.ofFull(to, name, WAITING)));
  }

  private void handle(Object message, ActorContext<Object> context) {
    switch (message) {
      case Wire wire -> give(wire);
      case Life.BEGIN -> context.watch(actor, reason -> Life.END);
      default -> {
        ending = true;
        context.self().sendPoisonPill();
      }
    }
  }

  private void give(Wire wire) {
    M message;
    try {
      message = protocol.decode(wire.body());
    } catch (RuntimeException unreadable) {
      LoggerFactory.getLogger(Cluster.class).warn("actor '{}' got a message that it cannot read", name, unreadable);
      wire.answerTo().ifPresent(to -> answer(Outcome.ofFailure(to, unreadable)));
      return;
    }
    if (wire.answerTo().isPresent() && message instanceof Request<?, ?> request) ask(wire, request);
    else actor.sendMessage(message); // where it is refused, it is a dead letter here
  }

  @SuppressWarnings("unchecked") // a request of the protocol is one of its messages
  private <R> void ask(Wire wire, Request<?, R> request) {
    String to = wire.answerTo().orElseThrow();
    var asked = (Actor<Object>) (Actor<?>) actor;
    var limit = Relay.limit(wire);
    var answer = limit.isPresent() ? asked.sendMessageReturn((Request<Object, R>) request, limit.get())
        : asked.sendMessageReturn((Request<Object, R>) request);
    answer.whenComplete((value, failure) -> answer(to, request, value, failure));
  }

  private void answer(String to, Object request, Object value, Throwable failure) {
    try {
      answer(failure == null ? Outcome.ofAnswer(to, request, value) : Outcome.ofFailure(to, failure));
    } catch (RuntimeException unwritable) {
      answer(Outcome.ofFailure(to, unwritable));
    }
  }

  private void answer(Wire wire) {
    try {
      engine.publish(wire);
    } catch (LostException cut) {
      LoggerFactory.getLogger(Cluster.class).debug("an answer of actor '{}' did not leave", name, cut);
    }
  }
}
