package io.fibry.dashboard;

import io.fibry.net.HttpServer.RouteFailure;
import java.time.Instant;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * The exact times of the last failures of a route, by the problem that they cause. A sample sees
 * only later that a count has risen. A handler may also set a status without an exception, whose
 * time the server does not know. Such a status removes the older time, because the last failure is
 * newer. Immutable.
 *
 * @param newest the newest failures that the server knew in the last sample
 * @param last the times of the last failures, as far as they are known
 */
record FailureTimes(Map<RouteProblem, Instant> newest, Map<RouteProblem, Instant> last) {
  private static final int UNAVAILABLE = 503;
  private static final int GATEWAY_TIMEOUT = 504;
  static final FailureTimes NONE = new FailureTimes(Map.of(), Map.of());

  /**
   * Returns the times in the next sample.
   *
   * @param failures the last failures of the route, the newest first
   * @param hasRisen whether the count of a problem has risen since this sample
   */
  FailureTimes next(List<RouteFailure> failures, Predicate<RouteProblem> hasRisen) {
    if (failures.isEmpty() && this == NONE) return NONE; // most routes
    var nextNewest = new EnumMap<RouteProblem, Instant>(RouteProblem.class);
    for (var failure : failures) nextNewest.putIfAbsent(problem(failure.status()), failure.time());
    var nextLast = new EnumMap<RouteProblem, Instant>(RouteProblem.class);
    nextLast.putAll(last);
    nextLast.keySet().removeIf(hasRisen);
    nextNewest.forEach((problem, time) -> {
      if (!time.equals(newest.get(problem))) nextLast.put(problem, time);
    });
    return new FailureTimes(nextNewest, nextLast);
  }

  private static RouteProblem problem(int status) {
    return status == UNAVAILABLE ? RouteProblem.UNAVAILABLE
        : status == GATEWAY_TIMEOUT ? RouteProblem.TIMING_OUT : RouteProblem.FAILING;
  }
}
