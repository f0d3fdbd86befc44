package io.fibry.engine.scope;

import io.fibry.ActorStats;
import io.fibry.engine.cell.ActorInspector;
import io.fibry.engine.cell.Cell;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Collects the statistics of the actors of a scope and its inner scopes. */
final class StatsCollector {
  private StatsCollector() {}

  static List<ActorStats> of(ScopeState scope) {
    var stats = new ArrayList<ActorStats>();
    addTo(stats, List.of(), scope);
    return List.copyOf(stats);
  }

  private static void addTo(List<ActorStats> stats, List<String> outerNames, ScopeState scope) {
    // one list for all actors of the scope
    var names = Stream.concat(outerNames.stream(), Stream.of(scope.name())).toList();
    for (var member : scope.members())
      if (member instanceof ScopeState innerScope) addTo(stats, names, innerScope);
      else stats.add(of(names, (Cell) member));
  }

  private static ActorStats of(List<String> scopeNames, Cell cell) {
    String activity = cell.activity();
    // read after the activity, so that this time is not shorter than the time in the activity's
    // text
    long busyNanos = cell.workersAndSelf().stream().mapToLong(ActorInspector::busyNanos).max().orElse(0);
    return new ActorStats(scopeNames, cell.name(), cell.strategyText(), cell.countQueued(ScopeDump.MAX_COUNTED),
        cell.handled(), cell.failed(), cell.refused(), activity, Duration.ofNanos(busyNanos));
  }
}
