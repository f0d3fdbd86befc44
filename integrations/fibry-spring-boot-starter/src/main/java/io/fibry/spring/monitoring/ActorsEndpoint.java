package io.fibry.spring.monitoring;

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
 * The endpoint {@code actors}: counts of each scope as JSON, or a dump as plain text. The message
 * of a dead letter is shown in JSON by its class only, because its content may be confidential.
 */
@Endpoint(id = "actors")
final class ActorsEndpoint {
  private final List<ActorScope> scopes;

  ActorsEndpoint(List<ActorScope> scopes) {
    this.scopes = scopes;
  }

  @ReadOperation
  public ScopesReport report() {
    return new ScopesReport(scopes.stream().map(ScopeCounts::of).toList());
  }

  @ReadOperation(produces = "text/plain;charset=UTF-8")
  public String dump() {
    return scopes.stream().map(ActorScope::dump).collect(Collectors.joining());
  }

  static Map<String, Long> byName(Map<DeadLetter.Reason, Long> counts) {
    var byName = new LinkedHashMap<String, Long>();
    counts.forEach((reason, count) -> byName.put(reason.name().toLowerCase(Locale.ROOT), count));
    return byName;
  }

  /** The counts of all scopes, the application's scope first. */
  record ScopesReport(List<ScopeCounts> scopes) implements OperationResponseBody {}

  record ScopeCounts(String scope, long sent, long handled, long handling, Map<String, Long> unhandled, long queued,
      List<String> unresponsive, List<DeadLetterView> deadLetters) {
    static ScopeCounts of(ActorScope scope) {
      var report = scope.report();
      return new ScopeCounts(report.scope(), report.sent(), report.handled(), report.handling(),
          byName(report.unhandled()),
          report.queued(), report.unresponsive(), scope.deadLetters().stream().map(DeadLetterView::of).toList());
    }
  }

  /**
   * A dead letter. {@code message} is the class of the message; {@code cause} is empty if the dead
   * letter has no cause.
   */
  record DeadLetterView(String actor, String message, String reason, String cause) {
    static DeadLetterView of(DeadLetter letter) {
      return new DeadLetterView(letter.actor(), letter.message().getClass().getName(),
          letter.reason().name().toLowerCase(Locale.ROOT), letter.cause().map(Lines::thrown).orElse(""));
    }
  }
}
