package io.fibry.net.http;

import io.fibry.block.FailureRecord;
import io.fibry.net.HttpServer.Outcome;
import io.fibry.net.HttpServer.ResponseCounts;
import io.fibry.net.HttpServer.ResponseTimes;
import io.fibry.net.HttpServer.RouteFailure;
import io.fibry.net.HttpServer.RouteStats;
import io.fibry.net.HttpServer.TimeBucket;
import io.fibry.spi.MessageTimer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;

/**
 * Counts the exchanges of one route by their outcome and their time. Thread-safe. Each pair of an
 * outcome and a time bucket has a counter of its own. So an exchange costs two additions and no
 * object, and all sums of one {@link #stats} agree. The counters of a route take about 4 kB, and
 * more if several processors count at the same time. An array has the last failure of each of three
 * kinds.
 */
final class RouteCounts {
  private static final long[] BOUND_NANOS = MessageTimer.bounds().stream().mapToLong(Duration::toNanos).toArray();
  private static final int BUCKETS = BOUND_NANOS.length + 1; // a further bucket has the longer times
  private static final int UNAVAILABLE = 503;
  private static final int GATEWAY_TIMEOUT = 504;
  private static final int FAILURE_KINDS = 3;
  private static final Outcome[] OUTCOMES = Outcome.values();

  private final LongAdder[] counts = adders(OUTCOMES.length * BUCKETS); // by outcome, then by bucket
  private final LongAdder[] nanos = adders(OUTCOMES.length); // by outcome
  private final LongAdder timedOut = new LongAdder(); // responses with the status 504
  private final LongAdder openWebSockets = new LongAdder();
  // by kind; written by connections, read by observers. If two connections write
  // at the same time, any failure may remain
  private final AtomicReferenceArray<LastFailure> failures = new AtomicReferenceArray<>(FAILURE_KINDS);

  /** A failed exchange. The number is empty if the log does not have the failure. */
  private record LastFailure(int status, Optional<String> number, FailureRecord failure) {

    RouteFailure read(String route, boolean mayShowMessages) {
      var read = failure.read(mayShowMessages);
      return new RouteFailure(route, read.time(), status, number, read.type(), read.message(),
          withoutServer(read.stack()));
    }

    /** Leaves out the frames of the server around the handler. */
    private static List<StackTraceElement> withoutServer(List<StackTraceElement> stack) {
      int end = stack.size();
      while (end > 0 && isOfServer(stack.get(end - 1).getClassName())) end--;
      return end == 0 ? stack : stack.subList(0, end);
    }

    private static boolean isOfServer(String className) {
      return className.startsWith("io.fibry.net.http.") || className.startsWith("io.fibry.net.socket.");
    }
  }

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

  /**
   * Keeps the failure of an exchange until a later failure of its kind. A flood of refusals, which
   * have no number, thus hides no other failure.
   *
   * @param status 500 or above
   * @param number the number by which the log names the failure; empty if it is not in the log
   */
  void keepFailure(int status, Optional<String> number, Throwable failure) {
    int kind = status == UNAVAILABLE && number.isEmpty() ? 0 : status == GATEWAY_TIMEOUT ? 1 : 2;
    failures.set(kind, new LastFailure(status, number, new FailureRecord(failure, Instant.now())));
  }

  /** Forgets the failures, because an exception may keep objects of users in memory. */
  void forgetFailures() {
    for (int kind = 0; kind < FAILURE_KINDS; kind++) failures.set(kind, null);
  }

  /** Adds the last failures of the route, which has this text. Runs user code. */
  void addFailures(String route, boolean mayShowMessages, List<RouteFailure> result) {
    for (int kind = 0; kind < FAILURE_KINDS; kind++) {
      var failure = failures.get(kind);
      if (failure != null) result.add(failure.read(route, mayShowMessages));
    }
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
