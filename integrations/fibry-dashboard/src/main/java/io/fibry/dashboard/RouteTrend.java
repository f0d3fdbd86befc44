package io.fibry.dashboard;

import io.fibry.dashboard.ProcessPauses.PauseHistory;
import io.fibry.net.HttpServer.ResponseTimes;
import io.fibry.net.HttpServer.RouteFailure;
import io.fibry.net.HttpServer.RouteStats;
import io.fibry.net.HttpServer.TimeBucket;
import io.fibry.text.Durations;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A route of an HTTP server: its counts, and how they have changed. Rates and percentiles are of
 * the time since the older of two base lines. A base line is replaced after 30 seconds, so this
 * time is 30 to 60 seconds; less at the beginning, and longer if samples are rarer. A problem
 * begins with a share of this time, and ends a minute after the last sample that saw it happen. If
 * the route has responded without it for half of this minute, the page shows for how long. A route
 * that fails each 40 seconds may fail again, so the page does not claim an end. Immutable.
 *
 * @param older the counts of the older base line
 * @param olderNanos the age of the older base line
 * @param newer the counts of the newer base line
 * @param newerNanos the age of the newer base line
 * @param stats the present counts
 * @param slow the slow successes that no pause of the process has delayed
 * @param work the exchanges at work
 * @param seen when a sample last saw each problem happen: an exchange at work for the handling
 * limit, or a higher count of errors or slow successes
 * @param recent how often each problem has happened recently, and beside it the responses that it
 * may have: all, or only the successes for slow ones. Has only problems of the last minute
 * @param failureTimes the exact times of the last failures
 * @param problems the problems that the page shows
 */
record RouteTrend(RouteStats older, long olderNanos, RouteStats newer, long newerNanos, RouteStats stats,
    SlowCounts slow, RouteWork work, Map<RouteProblem, LastSeen> seen, Map<RouteProblem, RecentCounts> recent,
    FailureTimes failureTimes, HeldProblems<RouteProblem> problems) {
  private static final long PERIOD_NANOS = Duration.ofSeconds(30).toNanos();
  /** Longer than the time between two errors of a route that fails every 20 seconds. */
  private static final long OVER_NANOS = Duration.ofSeconds(30).toNanos();
  private static final int MIN_PERCENT = 1; // so that one error among many responses is no problem
  private static final int MIN_SLOW = 2; // successes, because the first of a process may be slow

  /**
   * The limits that make a route a problem.
   *
   * @param handling how long a handler may be at work on one exchange
   * @param slow how long 99 % of the successes may take
   */
  record RouteLimits(Duration handling, Duration slow) {}

  /**
   * The last sample that saw a problem happen.
   *
   * @param nanos the time since this sample, at most {@link ActorTrend#LONG_AGO}
   * @param activeNanos the same without pauses of the process
   * @param laterResponses the responses since this sample
   */
  record LastSeen(long nanos, long activeNanos, long laterResponses) {
    static final LastSeen NEVER = new LastSeen(ActorTrend.LONG_AGO, ActorTrend.LONG_AGO, 0);
    static final LastSeen NOW = new LastSeen(0, 0, 0);

    LastSeen next(boolean hasHappened, long elapsedNanos, long pausedNanos, long responses) {
      return new LastSeen(ActorTrend.since(hasHappened, nanos, elapsedNanos),
          ActorTrend.since(hasHappened, activeNanos, elapsedNanos - pausedNanos),
          hasHappened ? 0 : laterResponses + responses);
    }
  }

  /**
   * Counts of slow successes since the first sample, at the base lines and now. A pause of the
   * process makes all exchanges slow that are in progress. Such exchanges are left out if they
   * end between the samples around the pause, or within the slow limit after it. An exchange that
   * ends later was itself slow after the pause.
   */
  record SlowCounts(long older, long newer, long now) {
    static final SlowCounts NONE = new SlowCounts(0, 0, 0);

    SlowCounts plus(long count) {
      return new SlowCounts(older, newer, now + count);
    }

    SlowCounts withNewBaseLine() {
      return new SlowCounts(newer, now, now);
    }

    long recent() {
      return now - older;
    }
  }

  static RouteTrend first(RouteStats stats, RouteWork work, RouteLimits limits) {
    var seen = new EnumMap<RouteProblem, LastSeen>(RouteProblem.class);
    for (var problem : RouteProblem.values()) seen.put(problem, LastSeen.NEVER);
    if (isStuck(work, limits)) seen.put(RouteProblem.STUCK, LastSeen.NOW);
    return new RouteTrend(stats, 0, stats, 0, stats, SlowCounts.NONE, work, seen, Map.of(), FailureTimes.NONE,
        HeldProblems.none())
        .withProblems(limits, 0);
  }

  RouteTrend next(RouteStats next, RouteWork nextWork, RouteLimits limits, PauseHistory pauses, long elapsedNanos) {
    long slowCount = pauses.hasEndedWithin(elapsedNanos + Durations.nanos(limits.slow)) ? 0
        : slowCount(next.successTimes(), limits.slow) - slowCount(stats.successTimes(), limits.slow);
    var nextSlow = slow.plus(slowCount);
    var nextSeen = new EnumMap<RouteProblem, LastSeen>(RouteProblem.class);
    seen.forEach((problem, last) -> nextSeen.put(problem, last.next(switch (problem) {
      case STUCK -> isStuck(nextWork, limits);
      case SLOW -> slowCount > 0;
      default -> count(next, problem) > count(stats, problem);
    }, elapsedNanos, pauses.pausedNanos(elapsedNanos), next.answered() - stats.answered())));
    var nextRecent = nextRecent(next, nextSlow, elapsedNanos);
    var trend = newerNanos + elapsedNanos < PERIOD_NANOS
        ? new RouteTrend(older, olderNanos + elapsedNanos, newer, newerNanos + elapsedNanos, next, nextSlow,
            nextWork, nextSeen, nextRecent, failureTimes, problems)
        : new RouteTrend(newer, newerNanos + elapsedNanos, next, 0, next, nextSlow.withNewBaseLine(), nextWork,
            nextSeen, nextRecent, failureTimes, problems);
    return trend.withProblems(limits, elapsedNanos);
  }

  private Map<RouteProblem, RecentCounts> nextRecent(RouteStats next, SlowCounts nextSlow, long elapsedNanos) {
    var nextRecent = new EnumMap<RouteProblem, RecentCounts>(RouteProblem.class);
    for (var problem : RouteProblem.values()) {
      var counts = recent.getOrDefault(problem, RecentCounts.NONE).next(events(stats, slow, problem),
          candidates(stats, problem), events(next, nextSlow, problem), candidates(next, problem), elapsedNanos);
      if (counts.isRecent()) nextRecent.put(problem, counts);
    }
    return nextRecent.isEmpty() ? Map.of() : nextRecent; // most routes
  }

  /** Returns how often a problem has happened, of the responses that may have it. */
  private static long events(RouteStats stats, SlowCounts slow, RouteProblem problem) {
    return problem == RouteProblem.SLOW ? slow.now : count(stats, problem);
  }

  /** Returns how many responses may have a problem since the server was opened. */
  private static long candidates(RouteStats stats, RouteProblem problem) {
    return problem == RouteProblem.SLOW ? stats.successTimes().count() : stats.answered();
  }

  private RouteTrend withProblems(RouteLimits limits, long elapsedNanos) {
    return new RouteTrend(older, olderNanos, newer, newerNanos, stats, slow, work, seen, recent, failureTimes,
        problems.next(presentProblems(limits), elapsedNanos, problem -> problem == RouteProblem.STUCK
            || lastSeen(problem).nanos < ActorProblem.RECENT_NANOS));
  }

  /**
   * Returns the trend with the exact times of failures.
   *
   * @param failures the last failures of the route, the newest first, read after the counts
   */
  RouteTrend withFailures(List<RouteFailure> failures) {
    var times = failureTimes.next(failures, problem -> seen.get(problem).nanos == 0);
    return times == failureTimes ? this
        : new RouteTrend(older, olderNanos, newer, newerNanos, stats, slow, work, seen, recent, times, problems);
  }

  /** Returns the last sample that saw the problem happen. A stuck route was slow. */
  private LastSeen lastSeen(RouteProblem problem) {
    var last = seen.get(problem);
    var stuck = seen.get(RouteProblem.STUCK);
    return problem == RouteProblem.SLOW && stuck.nanos < last.nanos ? stuck : last;
  }

  /**
   * Returns whether the route has responded without the problem for half a minute, without pauses
   * of the process.
   */
  private boolean isOver(RouteProblem problem) {
    var last = lastSeen(problem);
    return !problem.isState() && last.activeNanos >= OVER_NANOS && last.laterResponses > 0;
  }

  /** Returns how many responses had a problem since the server was opened. */
  private static long count(RouteStats stats, RouteProblem problem) {
    var responses = stats.responses();
    return switch (problem) {
      case FAILING -> responses.serverErrors() - responses.timedOut();
      case TIMING_OUT -> responses.timedOut();
      case UNAVAILABLE -> responses.unavailable();
      case STUCK, SLOW -> 0; // not seen by the status of a response
    };
  }

  private static boolean isStuck(RouteWork work, RouteLimits limits) {
    return work.maxActiveTime().compareTo(limits.handling) >= 0;
  }

  /** Returns how many exchanges ended since the older base line. */
  long recentlyAnswered() {
    return stats.answered() - older.answered();
  }

  /** Returns the problems whose conditions are true now, the most urgent first. */
  private List<RouteProblem> presentProblems(RouteLimits limits) {
    var present = new ArrayList<RouteProblem>(0);
    boolean isStuck = isStuck(work, limits);
    if (isStuck) present.add(RouteProblem.STUCK);
    for (var problem : List.of(RouteProblem.FAILING, RouteProblem.TIMING_OUT, RouteProblem.UNAVAILABLE))
      if (happens(problem, count(stats, problem) - count(older, problem), 1, recentlyAnswered())) present.add(problem);
    if (!isStuck && seen.get(RouteProblem.STUCK).nanos < ActorProblem.RECENT_NANOS
        || happens(RouteProblem.SLOW, slow.recent(), MIN_SLOW,
            stats.successTimes().count() - older.successTimes().count()))
      present.add(RouteProblem.SLOW);
    return present;
  }

  /** Returns whether a problem was seen within the last minute, and often enough recently. */
  private boolean happens(RouteProblem problem, long count, int min, long totalCount) {
    return seen.get(problem).nanos < ActorProblem.RECENT_NANOS && count >= min
        && count * 100 >= totalCount * MIN_PERCENT;
  }

  /**
   * Returns how many successes took longer than the limit, which is rounded up to the bound of a
   * bucket, and at most as long as the last bound. An event stream takes longer than that, and is
   * not slow.
   */
  private static long slowCount(ResponseTimes times, Duration limit) {
    for (var bucket : times.buckets())
      if (bucket.bound().compareTo(limit) >= 0) return times.buckets().getLast().count() - bucket.count();
    return 0;
  }

  /** Returns the times of the successes since the older base line. */
  private ResponseTimes recentTimes() {
    var times = stats.successTimes();
    var olderTimes = older.successTimes();
    var buckets = new ArrayList<TimeBucket>();
    for (int i = 0; i < times.buckets().size(); i++) {
      var bucket = times.buckets().get(i);
      buckets.add(new TimeBucket(bucket.bound(), bucket.count() - olderTimes.buckets().get(i).count()));
    }
    return new ResponseTimes(buckets, times.count() - olderTimes.count(), times.total().minus(olderTimes.total()));
  }

  /** Returns the estimated time in milliseconds; NaN if no exchange succeeded recently. */
  private static double millis(ResponseTimes recent, double fraction) {
    return recent.count() == 0 ? Double.NaN : Math.round(recent.percentile(fraction).toNanos() / 1e4) / 1e2;
  }

  /**
   * Returns the bounds of the bucket that has the time, in milliseconds. The upper bound is
   * infinite if the time is above the last bound. Both are NaN if no exchange succeeded recently.
   */
  private static List<Double> range(ResponseTimes recent, double fraction) {
    if (recent.count() == 0) return List.of(Double.NaN, Double.NaN);
    double rank = fraction * recent.count();
    double lowerBound = 0;
    long countBelow = 0;
    for (var bucket : recent.buckets()) {
      double bound = bucket.bound().toNanos() / 1e6;
      if (bucket.count() > countBelow && bucket.count() >= rank) return List.of(lowerBound, bound);
      lowerBound = bound;
      countBelow = bucket.count();
    }
    return List.of(lowerBound, Double.POSITIVE_INFINITY);
  }

  /** Returns a JSON object. */
  Map<String, Object> asMap() {
    var responses = stats.responses();
    var recent = recentTimes();
    var map = JsonText.object("route", stats.route().isEmpty() ? "none" : stats.route(), "answered", stats.answered(),
        "perSecond", ActorRow.rounded(ActorTrend.perSecond(recentlyAnswered(), olderNanos)), "working",
        work.exchanges(),
        "maxWorkMillis", work.maxTime().toMillis(), "upgraded", responses.upgraded(), "successful",
        responses.successful(), "redirected", responses.redirected(), "clientErrors", responses.clientErrors(),
        "serverErrors", responses.serverErrors() - responses.timedOut(), "timedOut", responses.timedOut(),
        "unavailable", responses.unavailable(), "p50Millis",
        millis(recent, 0.5), "p50Range", range(recent, 0.5), "p99Millis", millis(recent, 0.99), "p99Range",
        range(recent, 0.99), "maxRange", range(recent, 1), "openWebSockets", stats.openWebSockets());
    var over = new LinkedHashMap<RouteProblem, Object>();
    for (var problem : problems.list())
      if (isOver(problem)) over.put(problem, lastSeen(problem).activeNanos / 1_000_000);
    problems.addTo(map, over);
    var last = new LinkedHashMap<RouteProblem, Object>();
    for (var problem : problems.list())
      if (!problem.isState()) last.put(problem, lastSeen(problem).nanos / 1_000_000);
    if (!last.isEmpty()) map.put("lastMillisAgo", last);
    var exact = new LinkedHashMap<RouteProblem, Object>();
    for (var problem : problems.list())
      if (failureTimes.last().containsKey(problem)) exact.put(problem, failureTimes.last().get(problem));
    if (!exact.isEmpty()) map.put("lastAt", exact);
    var counts = new LinkedHashMap<RouteProblem, Object>();
    for (var problem : problems.list())
      if (this.recent.containsKey(problem) && !isOver(problem)) counts.put(problem, recentMap(problem));
    if (!counts.isEmpty()) map.put("recent", counts);
    return map;
  }

  private Map<String, Object> recentMap(RouteProblem problem) {
    var counts = recent.get(problem);
    return JsonText.object("count", counts.events(events(stats, slow, problem)), "of",
        counts.others(candidates(stats, problem)), "inMillis", counts.periodMillis());
  }
}
