package io.fibry.cluster;

import io.fibry.ActorContext;
import io.fibry.AskTimeoutException;
import io.fibry.Request;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * What an actor of this node does with messages to one on another: it sends them on. So a far actor
 * has a mailbox here, and requests to it have limits, texts and ends like any others. Of its
 * handler's thread.
 */
final class Relay {
  static final String TIME_LEFT = "Fb-Ttl"; // milliseconds

  /** A message, already bytes. */
  record Tell(Object message, byte[] body) {
    @Override
    public String toString() {
      return message.toString();
    }
  }

  /** A request, already bytes. */
  record Call<R>(Request<?, R> request, byte[] body) implements Request<Call<R>, R> {
    @Override
    public String toString() {
      return request.toString();
    }
  }

  private final Engine engine;
  private final String actor; // its name
  private final String subject;
  private final Duration longest; // for requests without a limit

  Relay(Engine engine, String actor, String subject, Duration longest) {
    this.engine = engine;
    this.actor = actor;
    this.subject = subject;
    this.longest = longest;
  }

  void handle(Object message, ActorContext<Object> context) {
    if (message instanceof Call<?> call) ask(call, context);
    else engine.publish(Wire.to(subject, Map.of(), ((Tell) message).body));
  }

  private <R> void ask(Call<R> call, ActorContext<Object> context) {
    var limit = context.timeLeft().orElse(longest);
    var answer = new CompletableFuture<R>();
    context.replyWhen(call, answer);
    if (limit.isPositive()) engine.request(Wire.to(subject, Map.of(TIME_LEFT, millis(limit)), call.body), limit)
        .whenComplete((wire, failure) -> tell(answer, call.request, limit, wire, failure));
  }

  private static String millis(Duration limit) {
    return Long.toString(Math.max(1, limit.toMillis()));
  }

  /** For the handler: a little less than its asker waits, so that it can say why it is late. */
  static Optional<Duration> limit(Wire wire) {
    try {
      return wire.header(TIME_LEFT).map(Long::parseLong)
          .map(millis -> Duration.ofMillis(Math.max(1, millis - Math.clamp(millis / 20, 10, 100))));
    } catch (NumberFormatException foreign) {
      return Optional.empty();
    }
  }

  private <R> void tell(CompletableFuture<R> asker, Request<?, R> request, Duration limit, Wire wire,
      Throwable failure) {
    try {
      if (failure == null) Outcome.tell(asker, request, actor, wire);
      else asker.completeExceptionally(lost(request, limit, failure));
    } catch (Throwable unreadable) { // of a codec, or of memory
      asker.completeExceptionally(new UnreachableException(
          "the answer of actor '" + actor + "' to {request} cannot be read", actor, request, unreadable, true));
    }
  }

  private Throwable lost(Request<?, ?> request, Duration limit, Throwable failure) {
    var loss = failure instanceof LostException lost ? lost.loss() : null;
    if (loss == LostException.Loss.LATE) return new AskTimeoutException("actor '" + actor
        + "' on another node has not answered {request} in time; it may handle it all the same", actor, request, limit,
        null);
    boolean mayHaveRun = loss == null || loss == LostException.Loss.UNKNOWN;
    String why = loss == LostException.Loss.NOBODY ? "no node offers it" : failure.getMessage();
    return new UnreachableException("{request} did not reach actor '" + actor + "': " + why, actor, request, failure,
        mayHaveRun);
  }
}
