package io.fibry.engine.scope;

import io.fibry.ActorStats;
import io.fibry.engine.cell.Activity;
import io.fibry.engine.cell.ActorInspector;
import io.fibry.engine.cell.ActorInspector.BusyTime;
import io.fibry.engine.cell.Cell;
import io.fibry.engine.cell.QueueAges;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
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
    var activity = cell.activity();
    // read after the activity, so that this time is not shorter than the time in the activity's
    // text
    var busy = maxBusyTime(cell);
    List<StackTraceElement> stack = busy.nanos() == 0 ? List.of() : ActorInspector.stack(busy.cell());
    // a pool that handles messages has the state of the worker that has been busy for longest
    var observed = busy.nanos() == 0 || busy.cell() == cell ? activity : busy.cell().activity();
    return stats(scopeNames, cell, activity, observed, busy, stack, true);
  }

  /**
   * Makes the statistics of an actor.
   *
   * @param observed has the state, and the type of the message and the awaited actor if it knows
   * them
   * @param hasFailure whether they have the last failure, which is read after the count of failures
   */
  private static ActorStats stats(List<String> scopeNames, Cell cell, Activity activity, Activity observed,
      BusyTime busy, List<StackTraceElement> stack, boolean hasFailure) {
    var mailbox = cell.mailbox();
    boolean isBounded = mailbox.capacity() < Integer.MAX_VALUE;
    return new ActorStats(scopeNames, cell.name(), cell.strategyText(), cell.countQueued(ScopeDump.MAX_COUNTED),
        Duration.ofNanos(QueueAges.observe(cell)), cell.handled(), cell.failed(), observed.state(),
        Optional.ofNullable(observed.awaited()), activity.busyWorkers(), activity.workers(), activity.maxWorkers(),
        activity.text(), Optional.ofNullable(observed.messageType()), Duration.ofNanos(busy.nanos()), busy.isExact(),
        isBounded ? OptionalInt.of(mailbox.capacity()) : OptionalInt.empty(),
        isBounded ? Optional.of(mailbox.overflow()) : Optional.empty(), cell.refused(), cell.dropped(),
        ActorInspector.expired(cell), ActorInspector.restarted(cell), stack,
        hasFailure ? cell.owner().lastFailure(cell.name()) : Optional.empty());
  }

  private static BusyTime maxBusyTime(Cell cell) {
    return cell.workersAndSelf().stream().map(ActorInspector::busyTime).max(Comparator.comparingLong(BusyTime::nanos))
        .orElseThrow();
  }

  /**
   * Adds statistics that need no stack and no text of a message. If there are more than {@code max}
   * actors, adds only busy actors, at most {@code max}. Returns whether it has added all actors.
   */
  static boolean addSamples(List<ActorStats> samples, ScopeState scope, int max) {
    return addSamples(samples, List.of(), scope, max, countActors(scope) > max);
  }

  private static int countActors(ScopeState scope) {
    var innerScopes = scope.innerScopes();
    return scope.countMembers() - innerScopes.size() + innerScopes.stream().mapToInt(StatsCollector::countActors).sum();
  }

  /** Returns whether no actor was left out. Actors may be added in the meantime. */
  private static boolean addSamples(List<ActorStats> samples, List<String> outerNames, ScopeState scope, int max,
      boolean skipsIdle) {
    var names = Stream.concat(outerNames.stream(), Stream.of(scope.name())).toList();
    boolean isComplete = true;
    for (var member : scope.members()) {
      if (member instanceof ScopeState innerScope)
        isComplete &= addSamples(samples, names, innerScope, max, skipsIdle);
      else if (samples.size() >= max || skipsIdle && ((Cell) member).isIdle()) isComplete = false;
      else samples.add(sample(names, (Cell) member));
      if (!isComplete && samples.size() >= max) return false; // the other actors change nothing
    }
    return isComplete;
  }

  private static ActorStats sample(List<String> scopeNames, Cell cell) {
    var activity = ActorInspector.briefActivity(cell);
    return stats(scopeNames, cell, activity, activity, maxBusyTime(cell), List.of(), false);
  }
}
