package io.fibry.dashboard;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.net.HttpServer.RouteFailure;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Tests which times of failures a route shows. */
class FailureTimesTest {
  private static RouteFailure failure(int status, int second) {
    return new RouteFailure("GET /", Instant.ofEpochSecond(second), status, Optional.empty(), "E", Optional.empty(),
        List.of());
  }

  private static Map<RouteProblem, Instant> last(RouteProblem problem, int second) {
    return Map.of(problem, Instant.ofEpochSecond(second));
  }

  @Test
  void timeIsOfNewestFailureOfEachProblem() {
    var times = FailureTimes.NONE.next(List.of(failure(503, 9), failure(504, 8), failure(502, 7), failure(500, 6)),
        problem -> true);

    assertEquals(Map.of(RouteProblem.UNAVAILABLE, Instant.ofEpochSecond(9), RouteProblem.TIMING_OUT,
        Instant.ofEpochSecond(8), RouteProblem.FAILING, Instant.ofEpochSecond(7)), times.last());
  }

  @Test
  void timeStaysUntilCountRisesWithoutKnownFailure() {
    var first = FailureTimes.NONE.next(List.of(failure(504, 8)), problem -> true);
    var second = first.next(List.of(failure(504, 8)), problem -> false);
    var third = second.next(List.of(failure(504, 8)), problem -> problem == RouteProblem.TIMING_OUT);
    var fourth = third.next(List.of(failure(504, 11)), problem -> problem == RouteProblem.TIMING_OUT);

    assertEquals(List.of(last(RouteProblem.TIMING_OUT, 8), Map.of(), last(RouteProblem.TIMING_OUT, 11)),
        List.of(second.last(), third.last(), fourth.last()));
  }
}
