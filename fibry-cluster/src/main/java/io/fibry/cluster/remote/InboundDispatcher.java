package io.fibry.cluster.remote;

import io.fibry.Actor;
import io.fibry.Request;
import io.fibry.RequestOutcome;
import io.fibry.cluster.Cluster;
import io.fibry.cluster.TransportException;
import io.fibry.cluster.UnavailableException;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.cluster.wire.AskChainEntry;
import io.fibry.cluster.wire.Destination;
import io.fibry.cluster.wire.Protocol;
import io.fibry.cluster.wire.UnreadableMessageLog;
import io.fibry.codec.CodecException;
import io.fibry.spi.AskChain;
import io.fibry.spi.BlockBuilder;
import io.fibry.text.SafeLogger;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Gives messages of other nodes to an actor of this node, or to the entities of a partition, and
 * sends their answers back. Thread-safe.
 *
 * @param description the name of the actor, or the kind
 * @param life the name and the life of this node
 * @param requests the requests that are not answered yet
 * @param mayAnswer returns false if other nodes may have declared this node dead, or may own the
 * partition, so that an answer of this node may be outdated
 * @param epoch returns the epoch by which this node owns the partition; 0 if it does not own it, or
 * if the actor is no entity
 * @param blockBuilder has the context propagators that restore the sender's context on the
 * delivering thread, so that the context propagators of the actor can capture it
 * @param answerExecutor runs the code that sends an answer, a failure, a receipt or a refusal
 */
public record InboundDispatcher<M>(ClusterTransport transport, String description, String life, Protocol<M> protocol,
    RequestRegistry requests,
    BooleanSupplier mayAnswer, LongSupplier epoch, BlockBuilder<Object> blockBuilder, Executor answerExecutor) {

  /** Decodes a message. If that fails, its sender gets the failure, and the result is empty. */
  public Optional<M> read(WireMessage wire) {
    try {
      return Optional.of(protocol.decode(wire.body()));
    } catch (VirtualMachineError fatal) {
      throw fatal;
    } catch (Throwable failure) { // such as an AssertionError of a user's constructor
      UnreadableMessageLog.log("'" + description + "' got a message", wire, failure);
      wire.replyTo().ifPresent(replyTo -> post(ReplyCodec.ofFailure(replyTo, wire, failure)));
      return Optional.empty();
    }
  }

  /**
   * Gives a message to the actor, and may wait for capacity in its mailbox. If the actor cannot be
   * made, or the delivery fails, the sender gets the failure.
   */
  public void deliver(WireMessage wire, M message, Supplier<? extends Actor<? super M>> actor) {
    try {
      deliver(wire, message, actor.get());
    } catch (VirtualMachineError fatal) {
      throw fatal;
    } catch (Throwable failure) {
      SafeLogger.of(Cluster.class).error("'{}' does not get {}", description, wire, failure);
      wire.replyTo().ifPresent(replyTo -> post(ReplyCodec.ofFailure(replyTo, message, failure)));
    }
  }

  /**
   * Makes the address for one message, which arrived as {@code body}. A durable actor that stores
   * the message stores these bytes.
   */
  public interface AddressFactory<M> {
    Actor<? super M> addressOf(Actor<? super M> actor, byte[] body);
  }

  /**
   * Delivers the messages of a bundle, to which no answers are expected. The sending node gets a
   * list of the messages that were refused, or the failure if the bundle cannot be decoded.
   */
  public void deliverAll(WireMessage wire, AddressFactory<M> addresses,
      Function<Optional<String>, Optional<? extends Actor<? super M>>> actors) {
    List<TellBundle.Group> groups;
    try {
      groups = TellBundle.groups(wire.body());
    } catch (RuntimeException failure) {
      UnreadableMessageLog.log("'" + description + "' got messages", wire, failure);
      wire.replyTo().ifPresent(replyTo -> post(ReplyCodec.ofFailure(replyTo, wire, failure)));
      return;
    }
    var refusals = new ArrayList<TellBundle.Refusal>(0);
    int firstIndex = 0; // index in the bundle of the first message of the group
    for (var group : groups) {
      deliverAll(wire, addresses, group, firstIndex, actors, refusals);
      firstIndex += group.bodies().size();
    }
    wire.replyTo().ifPresent(replyTo -> post(ReplyCodec.ofReceipt(replyTo, new TellBundle.Receipt(refusals))));
  }

  private void deliverAll(WireMessage wire, AddressFactory<M> addresses, TellBundle.Group group, int firstIndex,
      Function<Optional<String>, Optional<? extends Actor<? super M>>> actors, List<TellBundle.Refusal> refusals) {
    Optional<? extends Actor<? super M>> actor;
    try {
      actor = actors.apply(group.key());
    } catch (VirtualMachineError fatal) {
      throw fatal;
    } catch (Throwable failure) {
      String reason = warnAndSummarize(failure);
      for (int i = 0; i < group.bodies().size(); i++) refusals.add(new TellBundle.Refusal(firstIndex + i, reason));
      return;
    }
    AskChain.runAs(List.of(chainEntry(group.key()).toString()), () -> {
      for (int i = 0; i < group.bodies().size(); i++) {
        int index = firstIndex + i;
        tryDeliver(wire, addresses, group.bodies().get(i), group.context(i), actor)
            .ifPresent(reason -> refusals.add(new TellBundle.Refusal(index, reason)));
      }
    });
  }

  /** {@return why the actor did not get the message, or empty if it has accepted it} */
  private Optional<String> tryDeliver(WireMessage wire, AddressFactory<M> addresses, byte[] body, String context,
      Optional<? extends Actor<? super M>> actor) {
    if (actor.isEmpty()) return Optional.of("its key does not belong to this partition");
    try {
      return trySend(addresses.addressOf(actor.get(), body), protocol.decode(body), context) ? Optional.empty()
          : Optional.of("'" + description + "' did not accept it");
    } catch (CodecException failure) {
      UnreadableMessageLog.log("'" + description + "' got a message", wire, failure);
      return Optional.of(ReplyCodec.summarize(failure));
    } catch (VirtualMachineError fatal) {
      throw fatal;
    } catch (Throwable failure) { // the other messages of the bundle are delivered nevertheless
      return Optional.of(warnAndSummarize(failure));
    }
  }

  private String warnAndSummarize(Throwable failure) {
    SafeLogger.of(Cluster.class).warn("'{}' does not get a message", description, failure);
    return ReplyCodec.summarize(failure);
  }

  /** Returns the entry of this actor in the chain of actors that wait for each other. */
  AskChainEntry chainEntry(Optional<String> key) {
    return new AskChainEntry(life, key.map(text -> description + "/" + text).orElse(description));
  }

  private boolean trySend(Actor<? super M> actor, M message, String context) {
    var accepted = new boolean[1];
    blockBuilder.contextExecutor(actor, message, context).execute(() -> accepted[0] = actor.sendMessage(message));
    return accepted[0];
  }

  private void deliver(WireMessage wire, M message, Actor<? super M> actor) {
    blockBuilder.contextExecutor(actor, message, Destination.contextOf(wire))
        .execute(() -> deliverInContext(wire, message, actor));
  }

  private void deliverInContext(WireMessage wire, M message, Actor<? super M> actor) {
    var self = chainEntry(wire.header(Destination.KEY));
    if (wire.header(Destination.STORE).isPresent()) storeMessage(wire, message, actor);
    else if (wire.replyTo().isPresent() && message instanceof Request<?, ?> request) {
      if (self.isWaitingFor(wire))
        post(ReplyCodec.ofFailure(wire.replyTo().get(), request, self.cycleException(wire, request)));
      else AskChain.runAs(self.chainOf(wire), () -> ask(wire, request, actor));
    } else AskChain.runAs(List.of(self.toString()), () -> actor.sendMessage(message)); // if refused, a dead letter
  }

  private void storeMessage(WireMessage wire, M message, Actor<? super M> actor) {
    boolean isStored = actor.sendMessage(message);
    wire.replyTo().ifPresent(replyTo -> post(isStored ? ReplyCodec.ofConfirmation(replyTo)
        : ReplyCodec.ofFailure(replyTo, message, notStoredException(wire, message))));
  }

  /**
   * Returns an exception that names both possible reasons. Its outcome is unknown, because the
   * actor's {@code sendMessage} returns only false.
   */
  private UnavailableException notStoredException(WireMessage wire, Object message) {
    String actor = chainEntry(wire.header(Destination.KEY)).actor();
    return new UnavailableException("'" + actor + "' has not confirmed that it has stored the message: too many stored "
        + "messages wait for it, or its store has failed, as the log of its node then says", actor, message, null,
        RequestOutcome.UNKNOWN);
  }

  @SuppressWarnings("unchecked") // a request of the protocol is one of its messages
  private <R> void ask(WireMessage wire, Request<?, R> request, Actor<? super M> actor) {
    String replyTo = wire.replyTo().orElseThrow();
    var target = (Actor<Object>) (Actor<?>) actor;
    var limit = Destination.handlerLimit(wire);
    var reply = new EncodedReply(replyTo, request);
    var answer = reply.send(request,
        () -> limit.isPresent() ? target.sendMessageReturn((Request<Object, R>) request, limit.get())
            : target.sendMessageReturn((Request<Object, R>) request));
    requests.addDelivered(wire, answer);
    // chained to `allOf`, so that the actor's thread may run it, and needs no fiber for it
    CompletableFuture.allOf(answer).whenComplete((value, failure) -> {
      if (answer.isCancelled()) requests.removeDelivered(wire, answer); // the asker has stopped waiting
      else if (!isPassedToExecutor(() -> {
        try {
          sendReply(reply, failure == null ? answer.resultNow() : null, failure);
        } finally {
          requests.removeDelivered(wire, answer);
        }
      })) requests.removeDelivered(wire, answer);
    });
  }

  /**
   * Lets the executor run code that sends an answer. Called on a thread that must not wait, such as
   * the thread of the actor.
   *
   * @return false if the answer is not sent, because the node has ended
   */
  private boolean isPassedToExecutor(Runnable sending) {
    try {
      answerExecutor.execute(sending);
      return true;
    } catch (StackOverflowError deepHandler) { // a fiber has a stack of its own
      Thread.startVirtualThread(sending);
      return true;
    } catch (RejectedExecutionException nodeHasEnded) {
      SafeLogger.of(Cluster.class).debug("an answer of '{}' was not sent", description, nodeHasEnded);
      return false;
    }
  }

  private void sendReply(EncodedReply reply, Object value, Throwable failure) {
    try {
      send(failure == null ? reply.toAnswer(value) : reply.toFailure(failure));
    } catch (VirtualMachineError fatal) {
      throw fatal;
    } catch (Throwable notSent) { // such as an answer that is too large for the transport
      send(reply.toFailure(notSent));
    }
  }

  /** Confirms to the sender of the query that this node offers the actor. */
  void acknowledge(WireMessage query) {
    query.replyTo().ifPresent(replyTo -> post(ReplyCodec.ofConfirmation(replyTo)));
  }

  /** Tells the sender that the message was not handled, because too many messages wait already. */
  public void refuseAsFull(WireMessage wire, String text, int capacity) {
    wire.replyTo().ifPresent(replyTo -> post(ReplyCodec.ofFull(replyTo, text, capacity)));
  }

  /**
   * Tells the sender that the message was not handled, because this node no longer offers the actor
   * or owns the partition.
   */
  public void refuseAsWithdrawn(WireMessage wire, String text) {
    wire.replyTo().ifPresent(replyTo -> post(ReplyCodec.ofWithdrawn(replyTo, text)));
  }

  /**
   * Lets the executor send a message to an asker. The calling thread may be a thread of the
   * transport, which must not wait.
   */
  private void post(WireMessage answer) {
    isPassedToExecutor(() -> send(answer));
  }

  private void send(WireMessage answer) {
    if (!mayAnswer.getAsBoolean()) return;
    try {
      long currentEpoch = epoch.getAsLong();
      transport.publish(currentEpoch > 0 ? answer.withHeader(Destination.EPOCH, Long.toString(currentEpoch)) : answer);
    } catch (TransportException failure) {
      SafeLogger.of(Cluster.class).debug("an answer of '{}' was not sent", description, failure);
    }
  }
}
