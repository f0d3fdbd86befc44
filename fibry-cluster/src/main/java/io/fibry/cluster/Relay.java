package io.fibry.cluster;

import io.fibry.ActorContext;
import io.fibry.Request;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.Optional;

/**
 * What an actor of this node does with messages to one on another: it sends them on. So a far actor
 * has a mailbox here, and requests to it have limits, texts and ends like any others. Of its
 * handler's thread.
 */
final class Relay {

  /** The address of an actor: its name, and its key if it is an entity. */
  record Address(String actor, Optional<String> key) {}

  /** A message, already bytes. */
  record Tell(Address to, Object message, byte[] body) {
    @Override
    public String toString() {
      return message.toString();
    }
  }

  /** A request, already bytes. */
  record Call<R>(Address to, Request<?, R> request, byte[] body) implements Request<Call<R>, R> {
    @Override
    public String toString() {
      return request.toString();
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
    if (message instanceof Call<?> call) ask(call, context);
    else if (message instanceof Tell tell)
      engine.publish(Wire.to(route.subject(), route.headers(tell.to.key()), tell.body));
  }

  private <R> void ask(Call<R> call, ActorContext<Object> context) {
    var limit = context.timeLeft().orElse(longest);
    var far = new FarRequest<>(engine, clock, route, call, limit);
    context.replyWhen(call, far.answer());
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
