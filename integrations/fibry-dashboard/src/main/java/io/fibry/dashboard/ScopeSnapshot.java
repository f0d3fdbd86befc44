package io.fibry.dashboard;

import io.fibry.ActorScope;
import io.fibry.ActorStats;
import io.fibry.DeadLetter;
import io.fibry.dashboard.Panel.PanelInput;
import io.fibry.dashboard.Panel.PanelSample;
import io.fibry.dashboard.ProcessPauses.PauseHistory;
import io.fibry.dashboard.RouteTrend.RouteLimits;
import io.fibry.spi.ActorSamples;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToIntFunction;

/**
 * A scope at one moment, with rates since the previous snapshot. A snapshot that no page shows is a
 * sample: it has the counts that the next snapshot needs, of at most {@link #MAX_SAMPLED} actors,
 * and no rows. Used by one thread at a time.
 */
final class ScopeSnapshot {
  static final int MAX_SAMPLED = 10_000; // actors; about 3 MB
  private static final long MAX_AGE_NANOS = Duration.ofMinutes(10).toNanos(); // older snapshots give no useful rates

  /**
   * Keys of the actors of one scope on the page. Scopes with the same names are shown as one scope,
   * and may have actors with the same name, whose counts must not be compared. The first actor of a
   * name has the name as its key, the others have a number in it.
   */
  static final class NameKeys {
    private final Map<String, Integer> counts = new HashMap<>(); // the actors so far, by name

    /** Returns the key of the next actor with this name. */
    String next(String name) {
      int number = counts.merge(name, 1, Integer::sum);
      return number == 1 ? name : name + "\n" + number; // few names have lines, so the keys of names differ
    }
  }

  /** The totals of a scope, without the scopes inside it. */
  private static final class ScopeTotals {
    final int index;
    final Map<String, ActorTrend> trendsByKey = new HashMap<>(); // only trends that are worth keeping
    NameKeys keys = new NameKeys(); // of the actors; a new object after the last actor
    long actors;
    long waiting;
    long handled;
    long failed;
    long refused;
    long dropped;
    double perSecond;

    ScopeTotals(int index) {
      this.index = index;
    }

    void add(ActorRow row, String key, boolean keepsAll) {
      actors++;
      waiting += row.stats().queued();
      handled += row.stats().handled();
      failed += row.stats().failed();
      refused += row.stats().refused();
      dropped += row.stats().dropped();
      perSecond += row.trend().perSecond();
      if (keepsAll || row.trend().isWorthKeeping()) trendsByKey.put(key, row.trend());
    }
  }

  private final long nanos;
  private final long timeMillis; // the time of day
  private final long readMillis; // for how long the actors were read
  private final DashboardOptions options;
  private final PauseHistory pauses; // read after the actors, so that it has each pause that their times contain
  private final boolean isClosed;
  private final ActorScope.Report report;
  private final Map<List<String>, ScopeTotals> scopes = new LinkedHashMap<>(); // by names; outer scopes first
  private final boolean isComplete; // whether the trends have all actors that have done something
  private List<ActorRow> rows = new ArrayList<>(); // empty in a sample
  private List<ActorRow> problemRows; // most urgent first; empty after `forgetRows`
  private final Map<ActorProblem, Long> problems = new EnumMap<>(ActorProblem.class); // how many actors have it
  private final DeadLetterTable letters;
  private final List<PanelSample> panelSamples = new ArrayList<>(); // in the order of the options
  private Optional<String> json = Optional.empty(); // empty in a sample

  private ScopeSnapshot(ActorScope scope, long nanos, DashboardOptions options, Optional<ScopeSnapshot> lastSnapshot,
      ProcessPauses processPauses, boolean isSample) {
    var previous = lastSnapshot.filter(snapshot -> nanos - snapshot.nanos < MAX_AGE_NANOS);
    long elapsedNanos = previous.map(snapshot -> nanos - snapshot.nanos).orElse(0L);
    this.nanos = nanos;
    this.options = options;
    this.isClosed = scope.isClosed();
    this.report = scope.report();
    totals(List.of(scope.name())); // adds totals of the scope even if it has no actors
    for (var problem : ActorProblem.values()) problems.put(problem, 0L);
    this.timeMillis = System.currentTimeMillis();
    var actors = isSample ? ActorSamples.of(scope, MAX_SAMPLED) : new ActorSamples(scope.actors(), true);
    this.pauses = processPauses.observe();
    this.readMillis = Math.max(0, System.currentTimeMillis() - timeMillis);
    this.isComplete = actors.isComplete();
    var blocked = BlockedActors.of(actors.actors(),
        actor -> pauses.activeTime(actor).compareTo(options.handlingLimit) >= 0);
    for (var stats : actors.actors()) add(stats, previous, blocked.contains(stats));
    for (var totals : scopes.values()) totals.keys = new NameKeys(); // releases the memory
    var lastLetters = lastSnapshot.map(snapshot -> snapshot.letters).orElse(DeadLetterTable.NONE);
    this.letters = isSample ? lastLetters : DeadLetterTable.of(scope.deadLetters(), options.messageTexts, lastLetters);
    this.problemRows = rows.stream().filter(ActorRow::hasProblem).sorted(ActorRow.BY_URGENCY)
        .limit(ActorHistories.MAX_ACTORS).toList();
    if (isSample) rows = List.of();
    var input = new PanelInput(rows, new RouteLimits(options.handlingLimit, options.slowLimit), pauses);
    for (var panel : options.panels) {
      var previousSample = previous.map(snapshot -> snapshot.panelSamples.get(panelSamples.size()));
      panelSamples.add(isSample && !panel.hasTrend() ? Map::of
          : panel.sampleOrFailure(previousSample, elapsedNanos, input));
    }
    if (!isSample) this.json = Optional.of(json(previous));
  }

  /** Takes a snapshot for a page. */
  static ScopeSnapshot take(ActorScope scope, long nanos, DashboardOptions options,
      Optional<ScopeSnapshot> lastSnapshot, ProcessPauses pauses) {
    return new ScopeSnapshot(scope, nanos, options, lastSnapshot, pauses, false);
  }

  /** Takes a sample, which costs less than a snapshot. */
  static ScopeSnapshot sample(ActorScope scope, long nanos, DashboardOptions options,
      Optional<ScopeSnapshot> lastSnapshot, ProcessPauses pauses) {
    return new ScopeSnapshot(scope, nanos, options, lastSnapshot, pauses, true);
  }

  /** Keeps only the values with which the next snapshot is compared. */
  void forgetRows() {
    rows = List.of();
    problemRows = List.of();
    json = Optional.empty();
  }

  private void add(ActorStats stats, Optional<ScopeSnapshot> previous, boolean isBlocked) {
    var totals = totals(stats.scopes());
    var key = totals.keys.next(stats.name());
    var newTrend = previous.map(snapshot -> snapshot.trendIn(this, stats, key))
        .orElseGet(() -> ActorTrend.first(stats));
    var trend = newTrend.withProblems(
        newTrend.presentProblems(stats, options.handlingLimit, options.waitingLimit, pauses, isBlocked),
        previous.map(snapshot -> nanos - snapshot.nanos).orElse(0L));
    var row = new ActorRow(stats, totals.index, trend);
    totals.add(row, key, !isComplete);
    rows.add(row);
    for (var problem : row.problems()) problems.merge(problem, 1L, Long::sum);
  }

  /** Returns the trend of the actor in the next snapshot. */
  private ActorTrend trendIn(ScopeSnapshot next, ActorStats stats, String key) {
    var totals = scopes.get(stats.scopes());
    var trend = totals == null ? null : totals.trendsByKey.get(key);
    long elapsedNanos = next.nanos - nanos;
    if (trend != null) return trend.next(stats, elapsedNanos, next.pauses.pausedNanos(elapsedNanos));
    return isComplete ? ActorTrend.ofNew(stats, elapsedNanos) : ActorTrend.first(stats);
  }

  private ScopeTotals totals(List<String> names) {
    var existing = scopes.get(names);
    if (existing != null) return existing;
    if (names.size() > 1) totals(names.subList(0, names.size() - 1)); // the enclosing scope may have no actors
    var newTotals = new ScopeTotals(scopes.size());
    scopes.put(List.copyOf(names), newTotals);
    return newTotals;
  }

  long nanos() {
    return nanos;
  }

  ActorScope.Report report() {
    return report;
  }

  /** Returns rows of actors with problems, also of a sample. */
  List<ActorRow> problemRows() {
    return problemRows;
  }

  /** Returns whether the scope has closed and has no actors, so that it does not change anymore. */
  boolean hasEnded() {
    return isClosed && isComplete && scopes.values().stream().allMatch(totals -> totals.actors == 0);
  }

  boolean isSample() {
    return json.isEmpty();
  }

  String fullJson() {
    return json.orElseThrow();
  }

  /** Returns the text for a page that opens, which also needs the curves and pauses before. */
  String fullJson(TotalsHistory history) {
    var text = fullJson();
    return text.substring(0, text.length() - 1) + ",\"history\":" + JsonText.of(history.maps(nanos))
        + ",\"pauses\":" + JsonText.of(pauses.within(MAX_AGE_NANOS)) + "}";
  }

  /**
   * Returns the actors whose name, or whose scope's name, contains the filter, as JSON. Ignores
   * upper and lower case.
   */
  String filteredJson(String filter) {
    var lowerCaseFilter = filter.toLowerCase(Locale.ROOT);
    var matchingRows = rows.stream().filter(row -> matches(lowerCaseFilter, row)).toList();
    return JsonText.of(JsonText.object("filter", filter, "rows", maps(matchingRows, row -> -1)));
  }

  /**
   * Returns an actor with the stack of its handler, as JSON. If no actor has the name in the scope,
   * the JSON object is empty.
   *
   * @param scopeNames the names of the actor's scopes, with " / " between them
   * @param histories the counts of actors before the page was opened
   */
  String actorJson(String scopeNames, String name, ActorHistories histories) {
    for (var row : rows)
      if (row.stats().name().equals(name) && String.join(" / ", row.stats().scopes()).equals(scopeNames)) {
        var map = row.asMap(options.messageTexts, -1);
        map.put("stack", row.stats().stack());
        row.stats().lastFailure().ifPresent(failure -> map.put("lastFailure", asMap(failure)));
        map.put("history", histories.maps(scopeNames, name, nanos));
        map.put("time", timeMillis);
        return JsonText.of(map);
      }
    return "{}";
  }

  /** Adds the exchanges at work of all servers on the page. */
  void addTo(RouteExchanges exchanges) {
    if (!isSample()) exchanges.add(nanos, timeMillis, RoutesPanel.servers(options.panels), rows);
  }

  /** Returns the exchanges of a route of a server that are at work, as JSON objects. */
  List<Map<String, Object>> exchangesAtWork(String server, String route) {
    return RouteExchanges.atWork(server, route, rows, timeMillis);
  }

  private Map<String, Object> asMap(ActorStats.ActorFailure failure) {
    var map = JsonText.object("time", failure.time(), "type", failure.type(), "stack", failure.stack());
    if (options.messageTexts) failure.message().ifPresent(text -> map.put("message", text));
    return map;
  }

  private static boolean matches(String lowerCaseFilter, ActorRow row) {
    return row.stats().name().toLowerCase(Locale.ROOT).contains(lowerCaseFilter)
        || row.stats().scope().toLowerCase(Locale.ROOT).contains(lowerCaseFilter);
  }

  private List<Map<String, Object>> maps(List<ActorRow> candidates, ToIntFunction<ActorRow> group) {
    return ActorRow.choose(candidates, row -> group.applyAsInt(row) >= 0).stream()
        .map(row -> row.asMap(options.messageTexts, group.applyAsInt(row))).toList();
  }

  private String json(Optional<ScopeSnapshot> previous) {
    var rates = TotalsHistory.rates(previous.map(ScopeSnapshot::report).orElse(report), report,
        previous.map(snapshot -> nanos - snapshot.nanos).orElse(0L));
    var reasons = new LinkedHashMap<String, Object>();
    for (var reason : DeadLetter.Reason.values())
      reasons.put(reason.name().toLowerCase(Locale.ROOT), report.unhandled().getOrDefault(reason, 0L));
    var scopeMaps = new ArrayList<Map<String, Object>>();
    scopes.forEach(
        (names, totals) -> scopeMaps.add(JsonText.object("names", names, "actors", totals.actors,
            "waiting", totals.waiting, "handled", totals.handled,
            "perSecond", ActorRow.rounded(totals.perSecond), "failed", totals.failed, "refused", totals.refused,
            "dropped", totals.dropped)));
    var groups = new IdleGroups(rows);
    var map = JsonText.object("scope", report.scope(), "closed", isClosed, "sent", report.sent(), "handled",
        report.handled(), "handling", report.handling(), "waiting", report.queued(), "restarted", report.restarted(),
        "suspended", report.suspended(), "unhandled", reasons, "perSecond",
        rates, "running", report.unresponsive(), "problems", problems, "actors", rows.size(), "scopes", scopeMaps,
        "groups", groups.maps(), "rows", maps(rows, groups::indexOf), "deadLetters", letters.groups(), "cycles",
        letters.cycles(), "process", ProcessStats.asMap(), "panels",
        panelSamples.stream().map(PanelSample::asMap).toList());
    map.put("texts", options.messageTexts);
    map.put("time", timeMillis);
    map.put("readMillis", readMillis);
    pauses.recent().ifPresent(pause -> map.put("pause", pause));
    pauses.saturation().ifPresent(saturation -> map.put("saturated", saturation));
    recentFailures().ifPresent(failures -> map.put("recentFailures", failures));
    return JsonText.of(map);
  }

  /**
   * Returns the recent failures of the actors that have failed, and have no urgent problem; empty
   * if there are none.
   */
  private Optional<Map<String, Object>> recentFailures() {
    var failed = rows.stream().filter(row -> row.problems().contains(ActorProblem.FAILED)
        && row.problems().stream().noneMatch(ActorProblem::isUrgent)).toList();
    if (failed.isEmpty()) return Optional.empty();
    var trends = failed.stream().map(ActorRow::trend).toList();
    var map = JsonText.object("actors", trends.size(), "failures",
        trends.stream().mapToLong(ActorTrend::recentFailures).sum(), "millisAgo",
        trends.stream().mapToLong(trend -> trend.failures().sinceNanos()).min().orElseThrow() / 1_000_000, "inMillis",
        trends.stream().mapToLong(trend -> trend.failures().periodMillis()).max().orElseThrow());
    failed.stream().flatMap(row -> row.stats().lastFailure().stream()).map(ActorStats.ActorFailure::time)
        .max(Comparator.naturalOrder()).ifPresent(time -> map.put("lastAt", time));
    return Optional.of(map);
  }
}
