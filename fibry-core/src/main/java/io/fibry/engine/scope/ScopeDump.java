package io.fibry.engine.scope;

import io.fibry.engine.cell.ActorInspector;
import io.fibry.engine.cell.Cell;
import java.util.List;
import java.util.Locale;

/** Writes a scope with its actors and inner scopes as text, with one line for each. */
final class ScopeDump {
  static final int MAX_COUNTED = 100_000;

  private final StringBuilder text = new StringBuilder();

  private ScopeDump() {}

  static String of(ScopeState scope) {
    var dump = new ScopeDump();
    dump.add(scope, "");
    return dump.text.toString();
  }

  private void add(ScopeState scope, String indent) {
    var members = scope.members();
    var report = scope.report(List.of());
    text.append(indent).append("scope '").append(scope.name()).append("'").append(scope.isClosing() ? ", closing" : "")
        .append(": ").append(report.handled()).append(" handled");
    report.unhandled().forEach((reason, count) -> {
      if (count > 0) text.append(", ").append(count).append(' ').append(reason.name().toLowerCase(Locale.ROOT));
    });
    if (report.handling() > 0) text.append(", ").append(report.handling()).append(" being handled");
    text.append(", ").append(report.queued()).append(" waiting\n");
    for (var member : members)
      if (member instanceof ScopeState innerScope) add(innerScope, indent + "  ");
      else add((Cell) member, indent + "  ");
  }

  private void add(Cell cell, String indent) {
    int waiting = cell.countQueued(MAX_COUNTED);
    text.append(indent).append(cell.name()).append(" (").append(cell.strategyText()).append("): ")
        .append(cell.activity().text());
    if (waiting > 0)
      text.append("; ").append(waiting).append(waiting == MAX_COUNTED ? " or more" : "").append(" waiting");
    text.append("; ").append(cell.handled()).append(" handled");
    if (cell.failed() > 0) text.append(", ").append(cell.failed()).append(" failed");
    if (cell.refused() > 0) text.append(", ").append(cell.refused()).append(" refused");
    if (cell.dropped() > 0) text.append(", ").append(cell.dropped()).append(" dropped");
    long expired = ActorInspector.expired(cell);
    if (expired > 0) text.append(", ").append(expired).append(" expired");
    text.append('\n');
    for (var worker : cell.workersAndSelf()) if (worker != cell && !worker.isIdle()) add(worker, indent + "  ");
  }
}
