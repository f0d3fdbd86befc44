package io.fibry.net.http;

import io.fibry.net.HttpServer.Outcome;
import io.fibry.net.HttpServer.ResponseCounts;
import io.fibry.net.HttpServer.ResponseTimes;
import io.fibry.net.HttpServer.RouteStats;
import io.fibry.net.HttpServer.TimeBucket;
import io.fibry.spi.MessageTimer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.stream.Stream;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts the exchanges of one route by their outcome and their time. Thread-safe. Each pair of an
 * outcome and a time bucket has a counter of its own. So an exchange costs two additions and no
 * object, and all sums of one {@link #stats} agree. The counters of a route take about 4 kB, and
 * more if several processors count at the same time.
 */
final class RouteCounts {
  private static final long[] BOUND_NANOS = MessageTimer.bounds().stream().mapToLong(Duration::toNanos).toArray();
  private static final int BUCKETS = BOUND_NANOS.length + 1; // a further bucket has the longer times
  private static final int GATEWAY_TIMEOUT = 504;
  private static final Outcome[] OUTCOMES = Outcome.values();

  private final LongAdder[] counts = adders(OUTCOMES.length * BUCKETS); // by outcome, then by bucket
  private final LongAdder[] nanos = adders(OUTCOMES.length); // by outcome
  private final LongAdder timedOut = new LongAdder(); // responses with the status 504
  private final LongAdder openWebSockets = new LongAdder();

  private static LongAdder[] adders(int length) {
    return Stream.generate(LongAdder::new).limit(length).toArray(LongAdder[]::new);
  }

  void add(int status, long durationNanos) {
    int outcome = Outcome.of(status).ordinal();
    // before the count: a reader of the counts then reads the times of all counted exchanges
    nanos[outcome].add(durationNanos);
    counts[outcome * BUCKETS + bucket(durationNanos)].increment();
    if (status == GATEWAY_TIMEOUT) timedOut.increment(); // after the count, which a reader reads later
  }

  private static int bucket(long durationNanos) {
    int bucket = 0;
    while (bucket < BOUND_NANOS.length && durationNanos > BOUND_NANOS[bucket]) bucket++;
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
    long timeouts = timedOut.sum(); // before the counts, so that it is at most the count of server errors
    var byBucket = new long[BUCKETS]; // of all outcomes
    var byOutcome = new long[OUTCOMES.length];
    var countsOfOutcomes = new long[OUTCOMES.length][BUCKETS];
    for (int i = 0; i < counts.length; i++) {
      long count = counts[i].sum();
      countsOfOutcomes[i / BUCKETS][i % BUCKETS] = count;
      byOutcome[i / BUCKETS] += count;
      byBucket[i % BUCKETS] += count;
    }
    var times = new EnumMap<Outcome, ResponseTimes>(Outcome.class);
    long totalNanos = 0;
    for (var outcome : OUTCOMES) {
      long outcomeNanos = nanos[outcome.ordinal()].sum();
      totalNanos += outcomeNanos;
      times.put(outcome, times(countsOfOutcomes[outcome.ordinal()], outcomeNanos));
    }
    return new RouteStats(route,
        new ResponseCounts(byOutcome[0], byOutcome[1], byOutcome[2], byOutcome[3], byOutcome[4], timeouts,
            byOutcome[5]),
        times(byBucket, totalNanos), times, openWebSockets.sum());
  }

  private static ResponseTimes times(long[] byBucket, long totalNanos) {
    var buckets = new ArrayList<TimeBucket>();
    long countBelow = 0;
    for (int i = 0; i < BOUND_NANOS.length; i++)
      buckets.add(new TimeBucket(MessageTimer.bounds().get(i), countBelow += byBucket[i]));
    return new ResponseTimes(buckets, Arrays.stream(byBucket).sum(), Duration.ofNanos(totalNanos));
  }
}
