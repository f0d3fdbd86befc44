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
 * What an actor of this node does with messages to one on another: it sends them on. So a far actor
 * has a mailbox here, and requests to it have limits, texts and ends like any others. Used by its
 * handler's thread.
 */
final class RemoteSender {

  /**
   * The address of an actor.
   *
   * @param key if it is an entity
   * @param storesMessages its messages are stored before they are handled
   */
  record RemoteAddress(String actor, Optional<String> key, boolean storesMessages) {}

  /**
   * A message, already bytes.
   *
   * @param context the text that the carriers wrote, or empty
   */
  record OutboundTell(RemoteAddress to, Object message, byte[] body, String context) {
    int bytes() {
      return body.length + context.length();
    }

    @Override
    public String toString() {
      return message.toString();
    }
  }

  /** A message that is answered, in encoded form. */
  sealed interface OutboundRequest<R> permits OutboundAsk, OutboundStore, TellBundle {
    RemoteAddress to();

    byte[] body();

    /** Returns the text that the carriers wrote, or an empty text. */
    String context();

    /** Returns the request for texts. */
    Request<?, R> request();

    /** Its class stands in texts where a scope keeps the rest to itself. */
    default Object describedMessage() {
      return request();
    }

    default Map<String, String> headers(Route route) {
      var headers = route.headers(to().key());
      if (!context().isEmpty()) headers.put(Route.CONTEXT, context());
      return headers;
    }

    R decodeAnswer(byte[] bytes);
  }

  /** A request. */
  record OutboundAsk<R>(RemoteAddress to, Request<?, R> request, byte[] body, String context)
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

  /** A message that is to be stored before it is handled. */
  record OutboundStore(RemoteAddress to, Object message, byte[] body, String context)
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
      headers.put(Route.KEEP, "");
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
  private final Duration maxWait; // for requests without a limit, and receipts
  private final BlockBuilder<Object> blockBuilder; // has the carriers
  private final RemoteOutbox outbox;
  private final Actor<Object> actor;

  private RemoteSender(NodeContext nodeContext, Route route, Duration maxWait) {
    this.nodeContext = nodeContext;
    this.route = route;
    this.maxWait = maxWait;
    this.blockBuilder = nodeContext.blockBuilder();
    this.outbox =
        new RemoteOutbox(maxWait, route.maxTells(), tells -> new RemoteRequest<>(nodeContext, route, tells, maxWait),
            nodeContext::describeRequest);
    this.actor =
        BlockBuilder.of(nodeContext.scope().named(route.name())).excludedFromAccounts()
            .onFailure(FailurePolicy.resume())
            .newActor(this::handle);
  }

  static RemoteSender begin(NodeContext nodeContext, Route route, Duration maxWait) {
    return new RemoteSender(nodeContext, route, maxWait);
  }

  /** Returns the text that the carriers of the node's scope write on this thread for a message. */
  String context(Actor<?> to, Object message) {
    return blockBuilder.contextText(to, message);
  }

  Scheduler clock() {
    return nodeContext.clock();
  }

  /** Returns the actor to which requests are sent. */
  Actor<Object> actor() {
    return actor;
  }

  /** Called by any thread, which waits for room. */
  boolean sendTells(List<OutboundTell> tells) {
    return outbox.send(tells, actor);
  }

  /** Returns false if some messages have not arrived. */
  boolean awaitArrival(Duration limit) throws InterruptedException {
    return outbox.awaitArrival(limit);
  }

  /** Whether messages without answers are under delivery. */
  boolean isBusy() {
    return !outbox.isEmpty();
  }

  private void handle(Object message, ActorContext<Object> context) {
    switch (message) {
      case RemoteOutbox.OutboundBatch load -> outbox.add(load, actor);
      case RemoteOutbox.BundleEnded over -> outbox.onBundleEnded(actor);
      case RemoteOutbox.LostMessage lost -> throw lost.reason(); // so it is a dead letter
      case OutboundTell late -> outbox.add(late, actor);
      case OutboundAsk<?> call -> {
        outbox.sendAll(actor);
        ask(call, context);
      }
      case OutboundStore keep -> {
        outbox.sendAll(actor);
        ask(keep, keep, context);
      }
      default -> throw new AssertionError(message);
    }
  }

  private <R> void ask(OutboundAsk<R> call, ActorContext<Object> context) {
    ask(call, call, context);
  }

  private <R> void ask(Request<?, R> asked, OutboundRequest<R> sent, ActorContext<Object> context) {
    var limit = context.remainingTime().orElse(maxWait);
    var far = new RemoteRequest<>(nodeContext, route, sent, limit);
    far.addAskers(AskChain.current());
    context.replyWhen(asked, far.answer(), far::giveUp);
    if (limit.isPositive()) far.send();
  }

  /** For the handler: a little less than its asker waits, so that it can say why it is late. */
  static Optional<Duration> limit(WireMessage wire) {
    return Route.timeLeft(wire)
        .map(millis -> Duration.ofMillis(Math.max(1, millis - Math.clamp(millis / 20, 10, 100))));
  }

  @Override
  public String toString() {
    return route.name();
  }
}
