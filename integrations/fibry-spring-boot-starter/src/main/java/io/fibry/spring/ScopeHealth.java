package io.fibry.spring;

import io.fibry.ActorScope;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The health of a scope: whether it is open, and its message counts. A scope that a failure has
 * closed cannot be opened again.
 */
record ScopeHealth(boolean isOpen, Map<String, Object> details) {

  static ScopeHealth of(ActorScope scope) {
    var report = scope.report();
    boolean isOpen = !scope.isClosed();
    var details = new LinkedHashMap<String, Object>();
    details.put("scope", report.scope());
    details.put("handled", report.handled());
    details.put("unhandled", ActorsEndpoint.byName(report.unhandled()));
    details.put("waiting", report.queued());
    if (!isOpen) details.put("why", "scope '" + report.scope() + "' is closed");
    return new ScopeHealth(isOpen, details);
  }
}
