package io.fibry.cluster;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.Request;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.codec.CodecException;
import io.fibry.spi.AskChain;
import io.fibry.spi.BlockBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.slf4j.LoggerFactory;

/**
 * Gives messages of other nodes to actors of this one, and sends their answers back. Thread-safe.
 *
 * @param description the name of the actor, or the kind
 * @param life of this node
 * @param pendingRequests the requests that are not answered yet
 * @param mayAnswer false: others have given this node up, so what it says may be old
 * @param epoch the version by which this node owns the part; 0 if it is no part, or not owned
 * @param blockBuilder the builder whose carriers set the context that the sender's carriers wrote, on this
 * thread, so that the actor's carriers capture it
 */
record InboundDispatcher<M>(ClusterTransport engine, String description, String life, Protocol<M> protocol,
    PendingRequests pendingRequests,
    BooleanSupplier mayAnswer, LongSupplier epoch, BlockBuilder<Object> blockBuilder) {

  /** Returns an empty value if the message cannot be read, which its sender is told. */
  Optional<M> read(WireMessage wire) {
    try {
      return Optional.of(protocol.decode(wire.body()));
    } catch (RuntimeException unreadable) {
      UnreadableMessageLog.log("'" + description + "' got a message", wire, unreadable);
      wire.replyTo().ifPresent(to -> send(ReplyCodec.ofFailure(to, wire, unreadable)));
      return Optional.empty();
    }
  }

  /** May wait for room in the mailbox. If the actor cannot be made, the sender is told why. */
  void deliver(WireMessage wire, M message, Supplier<? extends Actor<? super M>> actor) {
    try {
      deliver(wire, message, actor.get());
    } catch (RuntimeException failure) {
      LoggerFactory.getLogger(Cluster.class).error("'{}' does not get {}", description, wire, failure);
      wire.replyTo().ifPresent(to -> send(ReplyCodec.ofFailure(to, message, failure)));
    }
  }

  static boolean isTellBundle(WireMessage wire) {
    return wire.header(Route.TELLS).isPresent();
  }

  /** The address of an actor for a message that came as these bytes. */
  interface AddressFactory<M> {
    Actor<? super M> of(Actor<? super M> actor, byte[] body);
  }

  /**
   * Gives messages without answers to their actors. Their sender hears which of them were not
   * taken.
   */
  void deliverAll(WireMessage wire, AddressFactory<M> received,
      Function<Optional<String>, Optional<? extends Actor<? super M>>> actors) {
    List<TellBundle.Group> groups;
    try {
      groups = TellBundle.groups(wire.body());
    } catch (RuntimeException foreign) {
      UnreadableMessageLog.log("'" + description + "' got messages", wire, foreign);
      return;
    }
    var refusals = new ArrayList<TellBundle.Refusal>(0);
    int first = 0; // index of the group's first message
    for (var group : groups) {
      deliverAll(wire, received, group, first, actors, refusals);
      first += group.bodies().size();
    }
    wire.replyTo().ifPresent(to -> send(ReplyCodec.ofReceipt(to, new TellBundle.Receipt(refusals))));
  }

  private void deliverAll(WireMessage wire, AddressFactory<M> received, TellBundle.Group group, int first,
      Function<Optional<String>, Optional<? extends Actor<? super M>>> actors, List<TellBundle.Refusal> refusals) {
    var actor = actors.apply(group.key());
    AskChain.runAs(List.of(toChainEntry(group.key()).toString()), () -> {
      for (int i = 0; i < group.bodies().size(); i++) {
        int index = first + i;
        byte[] body = group.bodies().get(i);
        refusal(wire, body, group.context(i), actor.map(one -> received.of(one, body)))
            .ifPresent(why -> refusals.add(new TellBundle.Refusal(index, why)));
      }
    });
  }

  /** Returns an empty value if the actor has taken the message. */
  private Optional<String> refusal(WireMessage wire, byte[] body, String context,
      Optional<? extends Actor<? super M>> actor) {
    if (actor.isEmpty()) return Optional.of("it is no key of this part");
    try {
      return trySend(actor.get(), protocol.decode(body), context) ? Optional.empty()
          : Optional.of("'" + description + "' did not take it");
    } catch (CodecException unreadable) {
      UnreadableMessageLog.log("'" + description + "' got a message", wire, unreadable);
      return Optional.of(ReplyCodec.summarize(unreadable));
    } catch (RuntimeException failure) {
      LoggerFactory.getLogger(Cluster.class).warn("'{}' does not get a message", description, failure);
      return Optional.of(ReplyCodec.summarize(failure));
    }
  }

  /** Returns this actor as the actors that may wait for it know it. */
  private AskChainEntry toChainEntry(Optional<String> key) {
    return new AskChainEntry(life, key.map(text -> description + "/" + text).orElse(description));
  }

  private boolean trySend(Actor<? super M> actor, M message, String context) {
    var sent = new boolean[1];
    blockBuilder.contextExecutor(actor, message, context).execute(() -> sent[0] = actor.sendMessage(message));
    return sent[0];
  }

  private void deliver(WireMessage wire, M message, Actor<? super M> actor) {
    blockBuilder.contextExecutor(actor, message, Route.context(wire))
        .execute(() -> deliverInContext(wire, message, actor));
  }

  private void deliverInContext(WireMessage wire, M message, Actor<? super M> actor) {
    var self = toChainEntry(wire.header(Route.KEY));
    if (wire.header(Route.KEEP).isPresent()) store(wire, message, actor);
    else if (wire.replyTo().isPresent() && message instanceof Request<?, ?> request) {
      if (self.isWaitingFor(wire))
        send(ReplyCodec.ofFailure(wire.replyTo().get(), request, self.cycleException(wire, request)));
      else AskChain.runAs(self.chainOf(wire), () -> ask(wire, request, actor));
    } else AskChain.runAs(List.of(self.toString()), () -> actor.sendMessage(message)); // or it is a dead letter here
  }

  private void store(WireMessage wire, M message, Actor<? super M> actor) {
    boolean kept = actor.sendMessage(message); // false: it waits for nobody
    wire.replyTo().ifPresent(to -> send(kept ? ReplyCodec.ofStored(to) : ReplyCodec.ofFull(to, description, 0)));
  }

  @SuppressWarnings("unchecked") // a request of the protocol is one of its messages
  private <R> void ask(WireMessage wire, Request<?, R> request, Actor<? super M> actor) {
    String to = wire.replyTo().orElseThrow();
    var asked = (Actor<Object>) (Actor<?>) actor;
    var limit = RemoteSender.limit(wire);
    var answer = limit.isPresent() ? asked.sendMessageReturn((Request<Object, R>) request, limit.get())
        : asked.sendMessageReturn((Request<Object, R>) request);
    pendingRequests.add(wire, answer);
    answer.whenComplete((value, failure) -> {
      if (!answer.isCancelled()) answer(to, request, value, failure); // the answer is still awaited
    });
  }

  private void answer(String to, Object request, Object value, Throwable failure) {
    try {
      send(failure == null ? ReplyCodec.ofAnswer(to, request, value) : ReplyCodec.ofFailure(to, request, failure));
    } catch (RuntimeException unwritable) {
      send(ReplyCodec.ofFailure(to, request, unwritable));
    }
  }

  void acknowledge(WireMessage question) {
    question.replyTo().ifPresent(to -> send(ReplyCodec.ofStored(to)));
  }

  /** It was not handled. */
  void refuse(WireMessage wire, int capacity, boolean gone) {
    wire.replyTo()
        .ifPresent(
            to -> send(gone ? ReplyCodec.ofGone(to, description) : ReplyCodec.ofFull(to, description, capacity)));
  }

  private void send(WireMessage answer) {
    if (!mayAnswer.getAsBoolean()) return;
    try {
      long now = epoch.getAsLong();
      engine.publish(now > 0 ? answer.withHeader(Route.EPOCH, Long.toString(now)) : answer);
    } catch (TransportException cut) {
      LoggerFactory.getLogger(Cluster.class).debug("an answer of '{}' did not leave", description, cut);
    }
  }
}
