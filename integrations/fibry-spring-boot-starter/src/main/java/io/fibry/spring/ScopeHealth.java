package io.fibry.spring;

import io.fibry.ActorScope;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The health of a scope: whether it is open, and its counts. A scope that a failure closed cannot
 * be opened again.
 */
record ScopeHealth(boolean up, Map<String, Object> details) {

  static ScopeHealth of(ActorScope scope) {
    var report = scope.report();
    boolean up = !scope.isClosed();
    var details = new LinkedHashMap<String, Object>();
    details.put("scope", report.scope());
    details.put("handled", report.handled());
    details.put("unhandled", ActorsEndpoint.byName(report.unhandled()));
    details.put("waiting", report.queued());
    if (!up) details.put("why", "scope '" + report.scope() + "' is closed");
    return new ScopeHealth(up, details);
  }
}
