package io.fibry.dashboard;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * The problems of an actor or route, as the page shows them. A problem begins with its condition,
 * and is shown until the condition has been false for some time. So a value that varies around a
 * limit does not let the problem come and go each second. Immutable.
 *
 * @param sinceNanos nanoseconds since the dashboard last saw the condition of each shown problem
 */
record HeldProblems<P extends Enum<P> & HeldProblems.Problem>(Map<P, Long> sinceNanos) {
  static final long HOLD_NANOS = Duration.ofSeconds(10).toNanos(); // of most problems
  private static final HeldProblems<?> NONE = new HeldProblems<ActorProblem>(Map.of());

  /** A problem; its {@code toString} is its name on the page. */
  interface Problem {
    /** Returns whether the problem is a state that ends, so that the page shows when it ended. */
    boolean isState();

    /** Returns for how long the problem is shown after its condition was true. */
    default long holdNanos() {
      return HOLD_NANOS;
    }
  }

  @SuppressWarnings("unchecked")
  static <P extends Enum<P> & Problem> HeldProblems<P> none() {
    return (HeldProblems<P>) NONE;
  }

  /**
   * Returns the problems in the next snapshot.
   *
   * @param present the problems whose conditions are true, most urgent first
   * @param mayHold whether a problem whose condition is false may still be shown
   */
  HeldProblems<P> next(List<P> present, long elapsedNanos, Predicate<P> mayHold) {
    if (present.isEmpty() && sinceNanos.isEmpty()) return none();
    var next = new TreeMap<P, Long>(); // in the order of urgency
    sinceNanos.forEach((problem, nanos) -> {
      if (nanos + elapsedNanos < problem.holdNanos() && mayHold.test(problem)) next.put(problem, nanos + elapsedNanos);
    });
    for (var problem : present) next.put(problem, 0L);
    return next.isEmpty() ? none() : new HeldProblems<>(next);
  }

  /** Returns the shown problems, the most urgent first. */
  List<P> list() {
    return List.copyOf(sinceNanos.keySet());
  }

  boolean isEmpty() {
    return sinceNanos.isEmpty();
  }

  /** Adds the problems to a JSON object, and how long ago the conditions of some have ended. */
  void addTo(Map<String, Object> map) {
    addTo(map, Map.of());
  }

  /** @param over for how many milliseconds other problems have been over */
  void addTo(Map<String, Object> map, Map<P, Object> over) {
    if (isEmpty()) return;
    map.put("problems", list());
    var ended = new LinkedHashMap<P, Object>(over);
    sinceNanos.forEach((problem, nanos) -> {
      if (nanos > 0 && problem.isState()) ended.put(problem, nanos / 1_000_000);
    });
    if (!ended.isEmpty()) map.put("endedMillisAgo", ended);
  }
}
