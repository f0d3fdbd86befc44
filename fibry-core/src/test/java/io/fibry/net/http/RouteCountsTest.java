package io.fibry.net.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.net.HttpServer.Outcome;
import io.fibry.net.HttpServer.ResponseCounts;
import io.fibry.net.HttpServer.ResponseTimes;
import io.fibry.net.HttpServer.RouteFailure;
import io.fibry.net.HttpServer.RouteStats;
import io.fibry.net.HttpServer.TimeBucket;
import io.fibry.support.Patience;
import io.fibry.testing.Promise;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RouteCountsTest {
  private final RouteCounts counts = new RouteCounts();

  private void add(int status, Duration duration) {
    counts.add(status, duration.toNanos());
  }

  private ResponseTimes times() {
    return counts.stats("/").times();
  }

  private long countUpTo(Duration bound) {
    return times().buckets().stream().filter(bucket -> bucket.bound().equals(bound)).findFirst().orElseThrow().count();
  }

  private static long sum(ResponseCounts responses) {
    return responses.upgraded() + responses.successful() + responses.redirected() + responses.clientErrors()
        + responses.serverErrors() + responses.unavailable();
  }

  @Promise("27.30")
  @Test
  void responsesAreCountedByStatus() {
    int[] statuses = {101, 200, 204, 299, 302, 399, 404, 405, 413, 499, 500, 502, 504, 599, 503, 503};
    for (int status : statuses) add(status, Duration.ofMillis(1));

    var stats = counts.stats("GET /orders");

    assertEquals(new ResponseCounts(1, 3, 2, 4, 4, 1, 2), stats.responses());
    assertEquals("GET /orders", stats.route());
    assertEquals(List.of(16L, 6L), List.of(stats.answered(), stats.failed()));
    assertEquals(Duration.ofMillis(16), stats.totalTime());
  }

  @Promise("27.30")
  @Test
  void eachBucketCountsAllTimesUpToItsBound() {
    for (var duration : List.of(Duration.ZERO, Duration.ofNanos(50_000), Duration.ofNanos(50_001),
        Duration.ofMillis(5), Duration.ofSeconds(10), Duration.ofSeconds(10).plusNanos(1), Duration.ofHours(1)))
      add(200, duration);

    assertEquals(2, countUpTo(Duration.ofNanos(50_000)));
    assertEquals(3, countUpTo(Duration.ofNanos(100_000)));
    assertEquals(3, countUpTo(Duration.ofNanos(2_500_000)));
    assertEquals(4, countUpTo(Duration.ofMillis(5)));
    assertEquals(4, countUpTo(Duration.ofSeconds(5)));
    assertEquals(5, countUpTo(Duration.ofSeconds(10)));
    assertEquals(7, times().count());
    var bounds = times().buckets().stream().map(TimeBucket::bound).toList();
    assertEquals(bounds.stream().sorted().distinct().toList(), bounds);
  }

  @Promise("27.30")
  @Test
  void refusalsDoNotChangePercentilesOfSuccesses() {
    for (int i = 0; i < 10; i++) add(200, Duration.ofMillis(700)); // the bucket from 500 ms to 1 s
    for (int i = 0; i < 1_000; i++) add(503, Duration.ofNanos(40_000));
    for (int i = 0; i < 5; i++) add(500, Duration.ofSeconds(4));
    for (int i = 0; i < 20; i++) add(304, Duration.ofNanos(40_000)); // a redirection is no success, as in all meters

    var stats = counts.stats("/");

    assertEquals(Duration.ofMillis(750), stats.successTimes().percentile(0.5));
    assertEquals(Duration.ofMillis(7_000), stats.successTimes().total());
    assertTrue(stats.times().percentile(0.5).compareTo(Duration.ofNanos(50_000)) < 0, stats::toString);
    var counts = new EnumMap<Outcome, Long>(Outcome.class);
    stats.timesByOutcome().forEach((outcome, times) -> counts.put(outcome, times.count()));
    assertEquals(Map.of(Outcome.INFORMATIONAL, 0L, Outcome.SUCCESS, 10L, Outcome.REDIRECTION, 20L, Outcome.CLIENT_ERROR,
        0L, Outcome.SERVER_ERROR, 5L, Outcome.UNAVAILABLE, 1_000L), counts);
    assertEquals(Duration.ofSeconds(20), stats.timesByOutcome().get(Outcome.SERVER_ERROR).total());
  }

  @Test
  void histogramsWithDifferentBoundsAreNotAdded() {
    var times = new ResponseTimes(List.of(new TimeBucket(Duration.ofSeconds(1), 1)), 1, Duration.ofMillis(3));
    var others = new ResponseTimes(List.of(new TimeBucket(Duration.ofSeconds(2), 1)), 1, Duration.ofMillis(4));

    assertEquals(new ResponseTimes(List.of(new TimeBucket(Duration.ofSeconds(1), 2)), 2, Duration.ofMillis(6)),
        times.plus(times));
    var refusal = assertThrows(IllegalArgumentException.class, () -> times.plus(others));
    assertEquals("a histogram with 1 buckets up to 2 s cannot be added to a histogram with 1 buckets up to 1 s; "
        + "give histograms with equal bounds", refusal.getMessage());
  }

  @Promise("27.30")
  @Test
  void percentileIsInterpolatedWithinBucket() {
    for (int i = 0; i < 10; i++) add(200, Duration.ofMillis(4)); // the bucket from 2.5 ms to 5 ms
    for (int i = 0; i < 10; i++) add(200, Duration.ofMillis(70)); // the bucket from 50 ms to 100 ms

    assertEquals(Duration.ofNanos(2_500_000), times().percentile(0));
    assertEquals(Duration.ofNanos(3_750_000), times().percentile(0.25));
    assertEquals(Duration.ofMillis(5), times().percentile(0.5));
    assertEquals(Duration.ofMillis(75), times().percentile(0.75));
    assertEquals(Duration.ofMillis(100), times().percentile(1));
  }

  @Promise("27.30")
  @Test
  void percentileBeyondLastBucketIsLastBound() {
    assertEquals(Duration.ZERO, times().percentile(0.99));
    add(200, Duration.ofMinutes(1));

    assertEquals(Duration.ofSeconds(10), times().percentile(0));
    assertEquals(Duration.ofSeconds(10), times().percentile(0.99));
  }

  @Test
  void percentileRefusesFractionOutsideZeroToOne() {
    for (double fraction : new double[] {-0.1, 1.1, 99, Double.NaN}) {
      var refusal = assertThrows(IllegalArgumentException.class, () -> times().percentile(fraction));
      assertEquals("there is no percentile for the fraction " + fraction + "; give 0 to 1, such as 0.99",
          refusal.getMessage());
    }
  }

  private static void assertConsistent(RouteStats stats) {
    assertEquals(stats.answered(), sum(stats.responses()), stats::toString);
    long previousCount = 0;
    for (var bucket : stats.times().buckets()) {
      assertTrue(bucket.count() >= previousCount, stats::toString);
      previousCount = bucket.count();
    }
    assertTrue(stats.answered() >= previousCount, stats::toString);
    assertTrue(stats.totalTime().toMillis() >= stats.answered(), stats::toString); // each takes at least 1 ms
    var byOutcome = stats.timesByOutcome().values();
    assertEquals(stats.answered(), byOutcome.stream().mapToLong(ResponseTimes::count).sum(), stats::toString);
    for (var times : byOutcome) assertTrue(times.total().toMillis() >= times.count(), stats::toString);
  }

  @Promise("27.30")
  @Test
  void countsOfSnapshotTakenDuringExchangesAreConsistent() {
    int exchanges = 200_000;
    var isDone = new AtomicBoolean();
    // platform threads, because busy virtual threads would occupy all carriers
    var threads = IntStream.range(0, 3).mapToObj(thread -> Thread.ofPlatform().start(() -> {
      for (int i = 0; i < exchanges; i++) add(200 + i % 4 * 101, Duration.ofMillis(1 + i % 20_000));
    })).toList();
    var reader = Patience.startFiber(() -> {
      while (!isDone.get()) {
        assertConsistent(counts.stats("/"));
        Thread.yield();
      }
    });
    threads.forEach(Patience::awaitEnd);
    isDone.set(true);
    Patience.awaitEnd(reader);

    assertConsistent(counts.stats("/"));
    assertEquals(3L * exchanges, times().count());
  }

  private void keepFailure(int status, Optional<String> number) {
    counts.keepFailure(status, number, new IllegalStateException("planned"));
  }

  /** A rule of the routes may respond with 503 to a failure that is in the log. */
  @Promise("27.45")
  @Test
  void floodOfRefusalsHidesNo503ThatLogHas() {
    keepFailure(503, Optional.of("logged"));

    for (int i = 0; i < 3; i++) keepFailure(503, Optional.empty());

    var failures = new ArrayList<RouteFailure>();
    counts.addFailures("/", true, failures);
    assertEquals(Set.of(Optional.of("logged"), Optional.empty()),
        failures.stream().map(RouteFailure::number).collect(Collectors.toSet()));
  }
}
