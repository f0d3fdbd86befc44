package io.fibry.spring;

import io.fibry.ActorScope;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/**
 * Whether the scope is open. One that a failure closed takes no message for good: only a new
 * application helps.
 */
final class ScopeHealth extends AbstractHealthIndicator {
  private final ActorScope scope;

  ScopeHealth(ActorScope scope) {
    super("the scope of the actors could not be asked for its health");
    this.scope = scope;
  }

  @Override
  protected void doHealthCheck(Health.Builder health) {
    var report = scope.report();
    health.withDetail("scope", report.scope()).withDetail("handled", report.handled())
        .withDetail("unhandled", ActorsEndpoint.byName(report.unhandled())).withDetail("waiting", report.waiting());
    try {
      scope.openScope("health").close(); // an empty one: only an open scope takes it
      health.up();
    } catch (IllegalStateException closed) {
      health.down().withDetail("why", String.valueOf(closed.getMessage()));
    }
  }
}
