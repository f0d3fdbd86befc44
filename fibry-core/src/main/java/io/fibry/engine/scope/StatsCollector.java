package io.fibry.engine.scope;

import io.fibry.ActorStats;
import io.fibry.engine.cell.ActorInspector;
import io.fibry.engine.cell.Cell;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** The actors of a scope and all below it, as data. */
final class StatsCollector {
  private StatsCollector() {}

  static List<ActorStats> of(ScopeState scope) {
    var all = new ArrayList<ActorStats>();
    addTo(all, List.of(), scope);
    return List.copyOf(all);
  }

  private static void addTo(List<ActorStats> all, List<String> around, ScopeState scope) {
    var scopes = Stream.concat(around.stream(), Stream.of(scope.name())).toList(); // one for all actors
    for (var member : scope.members())
      if (member instanceof ScopeState below) addTo(all, scopes, below);
      else all.add(of(scopes, (Cell) member));
  }

  private static ActorStats of(List<String> scopes, Cell cell) {
    String doing = cell.activity();
    // No less than it says.
    long busy = cell.workersAndSelf().stream().mapToLong(ActorInspector::busyNanos).max().orElse(0);
    return new ActorStats(scopes, cell.name(), cell.kind(), cell.countQueued(ScopeDump.MAX_COUNTED), cell.handled(),
        cell.failed(), doing, Duration.ofNanos(busy));
  }
}
