package io.fibry.dashboard;

import io.fibry.ActorStats;
import io.fibry.ActorStats.ActorState;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
  private final Map<String, List<ActorStats>> awaitedByName;

  private BlockedActors(List<ActorStats> actors, Predicate<ActorStats> isLong) {
    this.isLong = isLong;
    waiting = actors.stream().filter(actor -> actor.awaited().isPresent() && isLong.test(actor)).toList();
    var names = waiting.stream().map(actor -> actor.awaited().orElseThrow()).collect(Collectors.toSet());
    awaitedByName = names.isEmpty() ? Map.of() : actors.stream().filter(actor -> names.contains(actor.name()))
        .collect(Collectors.groupingBy(ActorStats::name));
  }

  /**
   * Returns the blocked actors of a snapshot, as a set of the same objects.
   *
   * @param isLong whether an actor is busy for the handling limit or longer
   */
  static Set<ActorStats> of(List<ActorStats> actors, Predicate<ActorStats> isLong) {
    var found = new BlockedActors(actors, isLong);
    return found.waiting.stream().filter(found::isBlocked).collect(Collectors.toCollection(
        () -> Collections.newSetFromMap(new IdentityHashMap<>())));
  }

  private boolean isBlocked(ActorStats actor) {
    return awaited(actor).filter(this::isStalled).isPresent() && !isInCycle(actor);
  }

  private boolean isStalled(ActorStats actor) {
    return isLong.test(actor) || actor.state() == ActorState.CUT_OFF || actor.state() == ActorState.SUSPENDED;
  }

  private boolean isInCycle(ActorStats actor) {
    var next = awaited(actor);
    for (int i = 0; i < waiting.size() && next.isPresent(); i++) {
      if (next.get() == actor) return true;
      next = next.flatMap(this::awaited);
    }
    return false;
  }

  /**
   * Returns the actor for which an actor waits. If several have its name, returns the actor of the
   * same scope; empty if there is none, or more than one.
   */
  private Optional<ActorStats> awaited(ActorStats actor) {
    var named = actor.awaited().map(name -> awaitedByName.getOrDefault(name, List.of())).orElse(List.of());
    if (named.size() == 1) return Optional.of(named.getFirst());
    var near = named.stream().filter(other -> other.scopes().equals(actor.scopes())).toList();
    return near.size() == 1 ? Optional.of(near.getFirst()) : Optional.empty();
  }
}
