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
 * texts and outcomes like other requests. Methods without a remark are called by the relay's
 * thread.
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
   * An encoded message without an answer.
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

  /** An encoded message that is answered. */
  sealed interface OutboundRequest<R> permits OutboundAsk, OutboundStore, TellBundle {
    RemoteAddress address();

    byte[] body();

    /** {@return the text of the context propagators, or an empty text} */
    String context();

    /** {@return the request that exceptions refer to} */
    Request<?, R> request();

    /**
     * {@return the message that texts describe, at least by its class if the scope hides contents}
     */
    default Object describedMessage() {
      return request();
    }

    default Map<String, String> headers(Route route) {
      var headers = route.headers(address().key());
      if (!context().isEmpty()) headers.put(Route.CONTEXT, context());
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
    public Map<String, String> headers(Route route) {
      var headers = OutboundRequest.super.headers(route);
      headers.put(Route.STORE, "");
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
  private final Route route;
  private final Duration maxWait; // the limit of bundles, and of requests without a limit
  private final BlockBuilder<Object> blockBuilder; // has the context propagators
  private final RemoteOutbox outbox;
  private final Actor<Object> actor;

  private RemoteSender(NodeContext nodeContext, Route route, Duration maxWait) {
    this.nodeContext = nodeContext;
    this.route = route;
    this.maxWait = maxWait;
    this.blockBuilder = nodeContext.blockBuilder();
    this.outbox =
        new RemoteOutbox(maxWait, route.maxTells(), bundle -> new RemoteRequest<>(nodeContext, route, bundle, maxWait),
            nodeContext::describeRequest);
    this.actor =
        BlockBuilder.of(nodeContext.scope().named(route.name())).excludedFromAccounts()
            .onFailure(FailurePolicy.resume())
            .newActor(this::handle);
  }

  static RemoteSender begin(NodeContext nodeContext, Route route, Duration maxWait) {
    return new RemoteSender(nodeContext, route, maxWait);
  }

  /** Returns the text that the context propagators write on the calling thread for a message. */
  String contextText(Actor<?> receiver, Object message) {
    return blockBuilder.contextText(receiver, message);
  }

  Scheduler clock() {
    return nodeContext.clock();
  }

  /** {@return the actor to which requests are sent} */
  Actor<Object> actor() {
    return actor;
  }

  /** Sends all messages or none. Called by any thread, which waits for capacity. */
  boolean sendTells(List<OutboundTell> tells) {
    return outbox.send(tells, actor);
  }

  /** Waits until all messages without answers have arrived. Returns false if some have not. */
  boolean awaitArrival(Duration limit) throws InterruptedException {
    return outbox.awaitArrival(limit);
  }

  /** Whether messages without answers are gathered or in flight. */
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
    var limit = context.remainingTime().orElse(maxWait);
    var remoteRequest = new RemoteRequest<>(nodeContext, route, outbound, limit);
    remoteRequest.addAskers(AskChain.current());
    context.replyWhen(request, remoteRequest.answer(), remoteRequest::cancel);
    if (limit.isPositive()) remoteRequest.send();
  }

  /**
   * Returns the limit of the handler: a little less than its asker waits, so that a time-out
   * arrives.
   */
  static Optional<Duration> limit(WireMessage wire) {
    return Route.remainingMillis(wire)
        .map(millis -> Duration.ofMillis(Math.max(1, millis - Math.clamp(millis / 20, 10, 100))));
  }

  @Override
  public String toString() {
    return route.name();
  }
}
