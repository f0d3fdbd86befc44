package io.fibry.spring;

import io.fibry.ActorScope;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/** Whether the scope is open. A scope that a failure closed cannot be opened again. */
final class ScopeHealth extends AbstractHealthIndicator {
  private final ActorScope scope;

  ScopeHealth(ActorScope scope) {
    super("the health check of the actors' scope failed");
    this.scope = scope;
  }

  @Override
  protected void doHealthCheck(Health.Builder health) {
    var report = scope.report();
    health.withDetail("scope", report.scope()).withDetail("handled", report.handled())
        .withDetail("unhandled", ActorsEndpoint.byName(report.unhandled())).withDetail("waiting", report.waiting());
    try {
      scope.openScope("health").close(); // fails if the scope is closed
      health.up();
    } catch (IllegalStateException closed) {
      health.down().withDetail("why", String.valueOf(closed.getMessage()));
    }
  }
}
