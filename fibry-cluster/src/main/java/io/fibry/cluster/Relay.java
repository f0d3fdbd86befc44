package io.fibry.cluster;

import io.fibry.ActorContext;
import io.fibry.Request;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/**
 * What an actor of this node does with messages to one on another: it sends them on. So a far actor
 * has a mailbox here, and requests to it have limits, texts and ends like any others. Of its
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

  /** A message, already bytes. */
  record Tell(Address to, Object message, byte[] body) {
    @Override
    public String toString() {
      return message.toString();
    }
  }

  /** What is answered, already bytes. */
  sealed interface Sent<R> {
    Address to();

    byte[] body();

    /** As texts show it. */
    Request<?, R> request();

    default Map<String, String> headers(Route route) {
      return route.headers(to().key());
    }

    R answer(byte[] bytes);
  }

  /** A request. */
  record Call<R>(Address to, Request<?, R> request, byte[] body) implements Request<Call<R>, R>, Sent<R> {
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
  record Keep(Address to, Object message, byte[] body) implements Request<Keep, Boolean>, Sent<Boolean> {
    @Override
    public Request<?, Boolean> request() {
      return this;
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

  private final Engine engine;
  private final Scheduler clock;
  private final Route route;
  private final Duration longest; // for requests without a limit

  Relay(Engine engine, Scheduler clock, Route route, Duration longest) {
    this.engine = engine;
    this.clock = clock;
    this.route = route;
    this.longest = longest;
  }

  void handle(Object message, ActorContext<Object> context) {
    switch (message) {
      case Call<?> call -> ask(call, context);
      case Keep keep -> ask(keep, keep, context);
      case Tell tell -> engine.publish(Wire.to(route.subject(), route.headers(tell.to.key()), tell.body));
      default -> throw new AssertionError(message);
    }
  }

  private <R> void ask(Call<R> call, ActorContext<Object> context) {
    ask(call, call, context);
  }

  private <R> void ask(Request<?, R> asked, Sent<R> sent, ActorContext<Object> context) {
    var limit = context.timeLeft().orElse(longest);
    var far = new FarRequest<>(engine, clock, route, sent, limit);
    context.replyWhen(asked, far.answer());
    if (limit.isPositive()) far.send();
  }

  /** For the handler: a little less than its asker waits, so that it can say why it is late. */
  static Optional<Duration> limit(Wire wire) {
    try {
      return wire.header(Route.TIME_LEFT).map(Long::parseLong)
          .map(millis -> Duration.ofMillis(Math.max(1, millis - Math.clamp(millis / 20, 10, 100))));
    } catch (NumberFormatException foreign) {
      return Optional.empty();
    }
  }
}
