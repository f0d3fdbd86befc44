package io.fibry.spring;

import io.fibry.ActorScope;
import io.fibry.DeadLetter;
import io.fibry.text.Lines;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;

/**
 * The endpoint {@code actors}: accounts as JSON, or a dump as plain text. The JSON shows only the
 * class of a dead letter, since its content may be confidential.
 */
@Endpoint(id = "actors")
final class ActorsEndpoint {
  private final List<ActorScope> scopes;

  ActorsEndpoint(List<ActorScope> scopes) {
    this.scopes = scopes;
  }

  @ReadOperation
  public Scopes report() {
    return new Scopes(scopes.stream().map(Counts::of).toList());
  }

  @ReadOperation(produces = "text/plain;charset=UTF-8")
  public String dump() {
    return scopes.stream().map(ActorScope::dump).collect(Collectors.joining());
  }

  static Map<String, Long> byName(Map<DeadLetter.Reason, Long> counts) {
    var named = new LinkedHashMap<String, Long>();
    counts.forEach((reason, count) -> named.put(reason.name().toLowerCase(Locale.ROOT), count));
    return named;
  }

  /** The application's scope comes first. */
  record Scopes(List<Counts> scopes) implements OperationResponseBody {}

  record Counts(String scope, long sent, long handled, long handling, Map<String, Long> unhandled, long waiting,
      List<String> running, List<Letter> deadLetters) {
    static Counts of(ActorScope scope) {
      var report = scope.report();
      return new Counts(report.scope(), report.sent(), report.handled(), report.handling(), byName(report.unhandled()),
          report.queued(), report.unresponsive(), scope.deadLetters().stream().map(Letter::of).toList());
    }
  }

  /**
   * {@code cause} may be empty.
   */
  record Letter(String actor, String message, String reason, String cause) {
    static Letter of(DeadLetter letter) {
      return new Letter(letter.actor(), letter.message().getClass().getName(),
          letter.reason().name().toLowerCase(Locale.ROOT), letter.cause().map(Lines::thrown).orElse(""));
    }
  }
}
