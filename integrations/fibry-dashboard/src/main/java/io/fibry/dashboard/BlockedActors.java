package io.fibry.dashboard;

import io.fibry.ActorStats;
import io.fibry.ActorStats.ActorState;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Finds the actors that are busy for the handling limit or longer only because they wait for
 * another actor, which is stalled itself. Such an actor is no cause: it continues when the other
 * actor does. Actors that wait for each other in a cycle are not blocked, because the page must
 * show a cause.
 */
final class BlockedActors {
  private final Predicate<ActorStats> isLong; // busy for the handling limit or longer
  private final List<ActorStats> waiting; // actors that wait for another actor, for the limit or longer
  private final Map<ActorStats, ActorStats> awaited = new IdentityHashMap<>(); // of these, as far as it is known

  /** The actors of one name in one scope. */
  private record Address(String name, List<String> scopes) {}

  private BlockedActors(List<ActorStats> actors, Predicate<ActorStats> isLong) {
    this.isLong = isLong;
    waiting = actors.stream().filter(actor -> actor.awaited().isPresent() && isLong.test(actor)).toList();
    if (!waiting.isEmpty()) findAwaited(actors);
  }

  /**
   * Finds the actor for which each actor waits. If several have its name, this is the actor of the
   * same scope; unknown if there is none, or more than one.
   */
  private void findAwaited(List<ActorStats> actors) {
    var names = waiting.stream().map(actor -> actor.awaited().orElseThrow()).collect(Collectors.toSet());
    var named = actors.stream().filter(actor -> names.contains(actor.name())).toList();
    var byName = named.stream().collect(Collectors.groupingBy(ActorStats::name));
    var byAddress = named.stream().collect(Collectors.groupingBy(actor -> new Address(actor.name(), actor.scopes())));
    for (var actor : waiting) {
      var name = actor.awaited().orElseThrow();
      var found = byName.getOrDefault(name, List.of());
      if (found.size() > 1) found = byAddress.getOrDefault(new Address(name, actor.scopes()), List.of());
      if (found.size() == 1) awaited.put(actor, found.getFirst());
    }
  }

  /**
   * Returns the blocked actors of a snapshot, as a set of the same objects.
   *
   * @param isLong whether an actor is busy for the handling limit or longer
   */
  static Set<ActorStats> of(List<ActorStats> actors, Predicate<ActorStats> isLong) {
    var found = new BlockedActors(actors, isLong);
    Set<ActorStats> blocked = newSet();
    for (var actor : found.waiting) if (found.isStalled(found.awaited.get(actor))) blocked.add(actor);
    if (!blocked.isEmpty()) blocked.removeAll(found.cycles());
    return blocked;
  }

  private static Set<ActorStats> newSet() {
    return Collections.newSetFromMap(new IdentityHashMap<>());
  }

  private boolean isStalled(ActorStats actor) {
    return actor != null
        && (isLong.test(actor) || actor.state() == ActorState.CUT_OFF || actor.state() == ActorState.SUSPENDED);
  }

  /** Returns the actors that wait for each other in cycles. Visits each actor at most twice. */
  private Set<ActorStats> cycles() {
    Set<ActorStats> cycles = newSet();
    Set<ActorStats> visited = newSet();
    for (var start : waiting) {
      Set<ActorStats> path = newSet();
      var actor = start;
      for (; actor != null && visited.add(actor); actor = awaited.get(actor)) path.add(actor);
      if (!path.contains(actor)) continue; // the path ends, or joins an earlier path
      for (; cycles.add(actor); actor = awaited.get(actor)) {
      } // around the cycle
    }
    return cycles;
  }
}
