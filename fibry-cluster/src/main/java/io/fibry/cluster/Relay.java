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
final class Relay {

  /**
   * The address of an actor.
   *
   * @param key if it is an entity
   * @param keeps its messages are stored before they are handled
   */
  record Address(String actor, Optional<String> key, boolean keeps) {}

  /**
   * A message, already bytes.
   *
   * @param context the text that the carriers wrote, or empty
   */
  record Tell(Address to, Object message, byte[] body, String context) {
    int bytes() {
      return body.length + context.length();
    }

    @Override
    public String toString() {
      return message.toString();
    }
  }

  /** A message that is answered, in encoded form. */
  sealed interface Sent<R> permits Call, Keep, Tells {
    Address to();

    byte[] body();

    /** Returns the text that the carriers wrote, or an empty text. */
    String context();

    /** Returns the request for texts. */
    Request<?, R> request();

    /** Its class stands in texts where a scope keeps the rest to itself. */
    default Object named() {
      return request();
    }

    default Map<String, String> headers(Route route) {
      var headers = route.headers(to().key());
      if (!context().isEmpty()) headers.put(Route.CONTEXT, context());
      return headers;
    }

    R answer(byte[] bytes);
  }

  /** A request. */
  record Call<R>(Address to, Request<?, R> request, byte[] body, String context)
      implements Request<Call<R>, R>, Sent<R> {
    @Override
    public R answer(byte[] bytes) {
      return Protocol.decodeAnswer(request, bytes);
    }

    @Override
    public String toString() {
      return request.toString();
    }
  }

  /** A message that is to be stored before it is handled. */
  record Keep(Address to, Object message, byte[] body, String context)
      implements Request<Keep, Boolean>, Sent<Boolean> {
    @Override
    public Request<?, Boolean> request() {
      return this;
    }

    @Override
    public Object named() {
      return message;
    }

    @Override
    public Map<String, String> headers(Route route) {
      var headers = Sent.super.headers(route);
      headers.put(Route.KEEP, "");
      return headers;
    }

    @Override
    public Boolean answer(byte[] bytes) {
      return true;
    }

    @Override
    public String toString() {
      return message.toString();
    }
  }

  private final Surroundings around;
  private final Route route;
  private final Duration longest; // for requests without a limit, and receipts
  private final BlockBuilder<Object> how; // has the carriers
  private final Outbox outbox;
  private final Actor<Object> actor;

  private Relay(Surroundings around, Route route, Duration longest) {
    this.around = around;
    this.route = route;
    this.longest = longest;
    this.how = around.how();
    this.outbox =
        new Outbox(longest, route.mostTells(), tells -> new FarRequest<>(around, route, tells, longest), around::asked);
    this.actor =
        BlockBuilder.of(around.scope().named(route.name())).excludedFromAccounts().onFailure(FailurePolicy.resume())
            .newActor(this::handle);
  }

  static Relay begin(Surroundings around, Route route, Duration longest) {
    return new Relay(around, route, longest);
  }

  /** Returns the text that the carriers of the node's scope write on this thread for a message. */
  String context(Actor<?> to, Object message) {
    return how.contextText(to, message);
  }

  Scheduler clock() {
    return around.clock();
  }

  /** Returns the actor to which requests are sent. */
  Actor<Object> actor() {
    return actor;
  }

  /** Called by any thread, which waits for room. */
  boolean tell(List<Tell> tells) {
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
      case Outbox.Load load -> outbox.add(load, actor);
      case Outbox.Over over -> outbox.over(actor);
      case Outbox.Lost lost -> throw lost.why(); // so it is a dead letter
      case Tell late -> outbox.add(late, actor);
      case Call<?> call -> {
        outbox.leaveAll(actor);
        ask(call, context);
      }
      case Keep keep -> {
        outbox.leaveAll(actor);
        ask(keep, keep, context);
      }
      default -> throw new AssertionError(message);
    }
  }

  private <R> void ask(Call<R> call, ActorContext<Object> context) {
    ask(call, call, context);
  }

  private <R> void ask(Request<?, R> asked, Sent<R> sent, ActorContext<Object> context) {
    var limit = context.remainingTime().orElse(longest);
    var far = new FarRequest<>(around, route, sent, limit);
    far.askedBy(AskChain.current());
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
