package io.fibry.spring.monitoring;

import io.fibry.ActorScope;
import java.util.LinkedHashMap;

/**
 * The health of a scope: whether it is open, and its message counts. A scope that a failure has
 * closed cannot be opened again.
 */
final class ScopeHealth {

  private ScopeHealth() {}

  static HealthReport of(ActorScope scope) {
    var report = scope.report();
    boolean isOpen = !scope.isClosed();
    var details = new LinkedHashMap<String, Object>();
    details.put("scope", report.scope());
    details.put("handled", report.handled());
    details.put("unhandled", ActorsEndpoint.byName(report.unhandled()));
    details.put("queued", report.queued());
    if (!isOpen) details.put("why", "scope '" + report.scope() + "' is closed");
    return new HealthReport(isOpen ? HealthReport.UP : HealthReport.DOWN, details);
  }
}
