package io.fibry.net.http;

import io.fibry.net.HttpServer.ResponseCounts;
import io.fibry.net.HttpServer.ResponseTimes;
import io.fibry.net.HttpServer.RouteStats;
import io.fibry.net.HttpServer.TimeBucket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts the exchanges of one route by their status and their time. Thread-safe. Each pair of a
 * status class and a time bucket has a counter of its own. So an exchange costs two additions, and
 * all sums of one {@link #stats} agree.
 */
final class RouteCounts {
  // the upper bounds of the time buckets, in microseconds; a further bucket has the longer times
  private static final int[] BOUND_MICROS = {50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000,
    250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000};
  private static final int BUCKETS = BOUND_MICROS.length + 1;
  private static final int CLASSES = 6;

  private final LongAdder[] counts = new LongAdder[CLASSES * BUCKETS];
  private final LongAdder nanos = new LongAdder();
  private final LongAdder openWebSockets = new LongAdder();

  RouteCounts() {
    for (int i = 0; i < counts.length; i++) counts[i] = new LongAdder();
  }

  void add(int status, long durationNanos) {
    nanos.add(durationNanos); // before the count: a reader of the counts then reads the times of all counted exchanges
    counts[statusClass(status) * BUCKETS + bucket(durationNanos)].increment();
  }

  /** Returns 0 to 4 for the hundreds of the status, and 5 for the status 503. */
  private static int statusClass(int status) {
    return status == 503 ? 5 : status / 100 - 1;
  }

  private static int bucket(long durationNanos) {
    int bucket = 0;
    while (bucket < BOUND_MICROS.length && durationNanos > BOUND_MICROS[bucket] * 1_000L) bucket++;
    return bucket;
  }

  /** Counts a WebSocket that was opened. */
  void webSocketOpened() {
    openWebSockets.increment();
  }

  /** Counts a WebSocket that was closed. */
  void webSocketClosed() {
    openWebSockets.decrement();
  }

  /** Returns the statistics of the route, which has this text. */
  RouteStats stats(String route) {
    var byClass = new long[CLASSES];
    var byBucket = new long[BUCKETS];
    for (int i = 0; i < counts.length; i++) {
      long count = counts[i].sum();
      byClass[i / BUCKETS] += count;
      byBucket[i % BUCKETS] += count;
    }
    var buckets = new ArrayList<TimeBucket>();
    long countBelow = 0;
    for (int i = 0; i < BOUND_MICROS.length; i++)
      buckets.add(new TimeBucket(Duration.ofNanos(BOUND_MICROS[i] * 1_000L), countBelow += byBucket[i]));
    return new RouteStats(route,
        new ResponseCounts(byClass[0], byClass[1], byClass[2], byClass[3], byClass[4], byClass[5]),
        new ResponseTimes(buckets, countBelow + byBucket[BUCKETS - 1], Duration.ofNanos(nanos.sum())),
        openWebSockets.sum());
  }
}
