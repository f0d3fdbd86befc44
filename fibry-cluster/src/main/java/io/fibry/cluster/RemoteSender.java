package io.fibry.cluster;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorContext;
import io.fibry.FailurePolicy;
import io.fibry.Request;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.spi.AskChain;
import io.fibry.spi.BlockBuilder;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A relay: an actor of this node that sends messages to an actor of another node, or to the
 * entities of a partition. So a remote actor has a mailbox here, and requests to it have limits,
 * exception texts and outcomes like requests to local actors. Methods without a remark are called
 * by the relay's thread.
 */
final class RemoteSender {

  /**
   * The address of an actor.
   *
   * @param key the key of an entity; empty if the actor is no entity
   * @param storesMessages whether its messages are stored before they are handled
   */
  record RemoteAddress(String actor, Optional<String> key, boolean storesMessages) {}

  /**
   * An encoded message that expects no answer.
   *
   * @param context the text of the context propagators, or an empty text
   */
  record OutboundTell(RemoteAddress address, Object message, byte[] body, String context) {
    int bytes() {
      return body.length + context.length();
    }

    @Override
    public String toString() {
      return message.toString();
    }
  }

  /** An encoded message that expects an answer. */
  sealed interface OutboundRequest<R> permits OutboundAsk, OutboundStore, TellBundle {
    RemoteAddress address();

    byte[] body();

    /** {@return the text of the context propagators, or an empty text} */
    String context();

    /** {@return the request that exceptions refer to} */
    Request<?, R> request();

    /**
     * {@return the message that exception texts describe} If the scope hides contents, the texts
     * name only its class.
     */
    default Object describedMessage() {
      return request();
    }

    default Map<String, String> headers(Destination destination) {
      var headers = destination.headers(address().key());
      if (!context().isEmpty()) headers.put(Destination.CONTEXT, context());
      return headers;
    }

    R decodeAnswer(byte[] bytes);
  }

  /** An encoded request. */
  record OutboundAsk<R>(RemoteAddress address, Request<?, R> request, byte[] body, String context)
      implements Request<OutboundAsk<R>, R>, OutboundRequest<R> {
    @Override
    public R decodeAnswer(byte[] bytes) {
      return Protocol.decodeAnswer(request, bytes);
    }

    @Override
    public String toString() {
      return request.toString();
    }
  }

  /** An encoded message that is stored before it is handled. */
  record OutboundStore(RemoteAddress address, Object message, byte[] body, String context)
      implements Request<OutboundStore, Boolean>, OutboundRequest<Boolean> {
    @Override
    public Request<?, Boolean> request() {
      return this;
    }

    @Override
    public Object describedMessage() {
      return message;
    }

    @Override
    public Map<String, String> headers(Destination destination) {
      var headers = OutboundRequest.super.headers(destination);
      headers.put(Destination.STORE, "");
      return headers;
    }

    @Override
    public Boolean decodeAnswer(byte[] bytes) {
      return true;
    }

    @Override
    public String toString() {
      return message.toString();
    }
  }

  private final NodeContext nodeContext;
  private final Destination destination;
  private final Duration defaultLimit; // the limit of bundles, and of requests without a limit
  private final BlockBuilder<Object> blockBuilder; // has the context propagators
  private final RemoteOutbox outbox;
  private final Actor<Object> actor;

  private RemoteSender(NodeContext nodeContext, Destination destination, Duration defaultLimit) {
    this.nodeContext = nodeContext;
    this.destination = destination;
    this.defaultLimit = defaultLimit;
    this.blockBuilder = nodeContext.blockBuilder();
    this.outbox =
        new RemoteOutbox(defaultLimit, destination.maxTells(),
            bundle -> new SentRequest<>(nodeContext, destination, bundle, defaultLimit), nodeContext::describeRequest);
    this.actor =
        BlockBuilder.of(nodeContext.scope().named(destination.name())).excludedFromAccounts()
            .onFailure(FailurePolicy.resume())
            .newActor(this::handle);
  }

  static RemoteSender begin(NodeContext nodeContext, Destination destination, Duration defaultLimit) {
    return new RemoteSender(nodeContext, destination, defaultLimit);
  }

  /** Returns the text that the context propagators write on the calling thread for a message. */
  String contextText(Actor<?> receiver, Object message) {
    return blockBuilder.contextText(receiver, message);
  }

  Scheduler clock() {
    return nodeContext.clock();
  }

  /** {@return the relay's actor, to which remote actors of this node send their messages} */
  Actor<Object> actor() {
    return actor;
  }

  /** Sends all messages or none. Called by any thread, which waits for capacity. */
  boolean sendTells(List<OutboundTell> tells) {
    return outbox.send(tells, actor);
  }

  /**
   * Waits until all messages that expect no answer have arrived. Returns false if some have not
   * arrived within the limit.
   */
  boolean awaitArrival(Duration limit) throws InterruptedException {
    return outbox.awaitArrival(limit);
  }

  /** Whether messages that expect no answer are gathered or in flight. */
  boolean isBusy() {
    return !outbox.isEmpty();
  }

  private void handle(Object message, ActorContext<Object> context) {
    switch (message) {
      case RemoteOutbox.OutboundBatch batch -> outbox.add(batch, actor);
      case RemoteOutbox.BundleEnded end -> outbox.onBundleEnded(actor);
      case RemoteOutbox.LostMessage loss -> throw loss.reason(); // makes it a dead letter
      case OutboundTell tell -> outbox.add(tell, actor);
      case OutboundAsk<?> request -> {
        outbox.sendAll(actor);
        ask(request, context);
      }
      case OutboundStore store -> {
        outbox.sendAll(actor);
        ask(store, store, context);
      }
      default -> throw new AssertionError(message);
    }
  }

  private <R> void ask(OutboundAsk<R> request, ActorContext<Object> context) {
    ask(request, request, context);
  }

  private <R> void ask(Request<?, R> request, OutboundRequest<R> outbound, ActorContext<Object> context) {
    var limit = context.remainingTime().orElse(defaultLimit);
    var remoteRequest = new SentRequest<>(nodeContext, destination, outbound, limit);
    remoteRequest.addAskers(AskChain.current());
    context.replyWhen(request, remoteRequest.answer(), remoteRequest::cancel);
    if (limit.isPositive()) remoteRequest.send();
  }

  /**
   * Returns the limit of the handler. It is a little shorter than the limit of the asker, so that
   * the handler's time-out reaches the asker in time. Returns an empty value if the request has no
   * limit.
   */
  static Optional<Duration> handlerLimit(WireMessage wire) {
    return Destination.remainingMillis(wire)
        .map(millis -> Duration.ofMillis(Math.max(1, millis - Math.clamp(millis / 20, 10, 100))));
  }

  @Override
  public String toString() {
    return destination.name();
  }
}
