package io.fibry.dashboard;

import io.fibry.ActorScope;
import io.fibry.ActorStats;
import io.fibry.DeadLetter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** A scope at one moment, with rates since the previous snapshot. Used by one thread at a time. */
final class ScopeSnapshot {
  private static final long MAX_AGE_NANOS = Duration.ofMinutes(1).toNanos(); // older snapshots give no useful rates

  /** The totals of a scope, without the scopes inside it. */
  private static final class ScopeTotals {
    final int index;
    final Map<String, Long> handledByName = new HashMap<>(); // only actors that have handled anything
    long actors;
    long waiting;
    long handled;
    long failed;
    double perSecond;

    ScopeTotals(int index) {
      this.index = index;
    }

    void add(ActorRow row) {
      actors++;
      waiting += row.stats().queued();
      handled += row.stats().handled();
      failed += row.stats().failed();
      perSecond += row.perSecond();
      if (row.stats().handled() > 0) handledByName.put(row.stats().name(), row.stats().handled());
    }
  }

  private final long nanos;
  private final boolean showsMessages;
  private final boolean isClosed;
  private final ActorScope.Report report;
  private final Map<List<String>, ScopeTotals> scopes = new LinkedHashMap<>(); // by names; outer scopes first
  private final List<ActorRow> rows = new ArrayList<>();
  private final DeadLetterTable letters;
  private final String json;

  private ScopeSnapshot(ActorScope scope, long nanos, boolean showsMessages, Optional<ScopeSnapshot> lastSnapshot) {
    var previous = lastSnapshot.filter(snapshot -> nanos - snapshot.nanos < MAX_AGE_NANOS);
    double seconds = previous.map(snapshot -> (nanos - snapshot.nanos) / 1e9).orElse(Double.NaN);
    this.nanos = nanos;
    this.showsMessages = showsMessages;
    this.isClosed = scope.isClosed();
    this.report = scope.report();
    totals(List.of(scope.name())); // adds totals of the scope even if it has no actors
    for (var stats : scope.actors()) {
      var totals = totals(stats.scopes());
      var row = new ActorRow(stats, totals.index, (stats.handled() - handledBefore(previous, stats)) / seconds);
      totals.add(row);
      rows.add(row);
    }
    this.letters = DeadLetterTable.of(scope.deadLetters(), showsMessages,
        lastSnapshot.map(snapshot -> snapshot.letters).orElse(DeadLetterTable.NONE));
    this.json = json(rates(previous, seconds));
  }

  static ScopeSnapshot take(ActorScope scope, long nanos, boolean showsMessages, Optional<ScopeSnapshot> lastSnapshot) {
    return new ScopeSnapshot(scope, nanos, showsMessages, lastSnapshot);
  }

  private ScopeTotals totals(List<String> names) {
    var existing = scopes.get(names);
    if (existing != null) return existing;
    if (names.size() > 1) totals(names.subList(0, names.size() - 1)); // the enclosing scope may have no actors
    var newTotals = new ScopeTotals(scopes.size());
    scopes.put(List.copyOf(names), newTotals);
    return newTotals;
  }

  /**
   * Returns how many messages the actor had handled at the previous snapshot. The result is at most
   * the current count, because the earlier count may belong to an ended actor of the same name.
   */
  private static long handledBefore(Optional<ScopeSnapshot> previous, ActorStats stats) {
    var totals = previous.map(snapshot -> snapshot.scopes.get(stats.scopes())).orElse(null);
    return totals == null ? 0 : Math.min(stats.handled(), totals.handledByName.getOrDefault(stats.name(), 0L));
  }

  private Map<String, Object> rates(Optional<ScopeSnapshot> previous, double seconds) {
    var previousReport = previous.map(snapshot -> snapshot.report).orElse(report);
    return JsonText.object("sent", ActorRow.rounded((report.sent() - previousReport.sent()) / seconds),
        "handled", ActorRow.rounded((report.handled() - previousReport.handled()) / seconds),
        "unhandled", ActorRow.rounded((unhandled(report) - unhandled(previousReport)) / seconds));
  }

  private static long unhandled(ActorScope.Report report) {
    return report.unhandled().values().stream().mapToLong(Long::longValue).sum();
  }

  long nanos() {
    return nanos;
  }

  String fullJson() {
    return json;
  }

  /**
   * Returns the actors whose name, or whose scope's name, contains the filter, as JSON. Ignores
   * upper and lower case.
   */
  String filteredJson(String filter) {
    var lowerCaseFilter = filter.toLowerCase(Locale.ROOT);
    var matchingRows = rows.stream().filter(row -> matches(lowerCaseFilter, row)).toList();
    return JsonText.of(JsonText.object("filter", filter, "rows", maps(matchingRows)));
  }

  private static boolean matches(String lowerCaseFilter, ActorRow row) {
    return row.stats().name().toLowerCase(Locale.ROOT).contains(lowerCaseFilter)
        || row.stats().scope().toLowerCase(Locale.ROOT).contains(lowerCaseFilter);
  }

  private List<Map<String, Object>> maps(List<ActorRow> candidates) {
    return ActorRow.choose(candidates).stream().map(row -> row.asMap(showsMessages)).toList();
  }

  private String json(Map<String, Object> rates) {
    var reasons = new LinkedHashMap<String, Object>();
    for (var reason : DeadLetter.Reason.values())
      reasons.put(reason.name().toLowerCase(Locale.ROOT), report.unhandled().getOrDefault(reason, 0L));
    var scopeMaps = new ArrayList<Map<String, Object>>();
    scopes.forEach(
        (names, totals) -> scopeMaps.add(JsonText.object("names", names, "actors", totals.actors,
            "waiting", totals.waiting, "handled", totals.handled,
            "perSecond", ActorRow.rounded(totals.perSecond), "failed", totals.failed)));
    return JsonText.of(JsonText.object("scope", report.scope(), "closed", isClosed, "sent", report.sent(), "handled",
        report.handled(), "handling", report.handling(), "waiting", report.queued(), "unhandled", reasons, "perSecond",
        rates, "running", report.unresponsive(), "actors", rows.size(), "scopes", scopeMaps, "rows", maps(rows),
        "deadLetters",
        letters.groups(),
        "cycles", letters.cycles()));
  }
}
