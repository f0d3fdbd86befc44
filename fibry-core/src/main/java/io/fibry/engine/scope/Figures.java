package io.fibry.engine.scope;

import io.fibry.ActorStats;
import io.fibry.engine.cell.Cell;
import io.fibry.engine.cell.Observer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** The actors of a scope and all below it, as data. */
final class Figures {
  private Figures() {}

  static List<ActorStats> of(Members scope) {
    var all = new ArrayList<ActorStats>();
    addTo(all, List.of(), scope);
    return List.copyOf(all);
  }

  private static void addTo(List<ActorStats> all, List<String> around, Members scope) {
    var scopes = Stream.concat(around.stream(), Stream.of(scope.name())).toList(); // one for all actors
    for (var member : scope.members())
      if (member instanceof Members below) addTo(all, scopes, below);
      else all.add(of(scopes, (Cell) member));
  }

  private static ActorStats of(List<String> scopes, Cell cell) {
    String doing = cell.doing();
    long busy = cell.crew().stream().mapToLong(Observer::busy).max().orElse(0); // no less than it says
    return new ActorStats(scopes, cell.name(), cell.kind(), cell.waiting(Dump.COUNTED), cell.handled(),
        cell.failed(), doing, Duration.ofNanos(busy));
  }
}
