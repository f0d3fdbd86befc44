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

/** A scope at one moment, with the rates since the look before. Used by one thread at a time. */
final class ScopeSnapshot {
  private static final long MAX_AGE_NANOS = Duration.ofMinutes(1).toNanos(); // an older look says nothing of now

  /** The sums of a scope, without the scopes in it. */
  private static final class ScopeTotals {
    final int place;
    final Map<String, Long> handledBy = new HashMap<>(); // only actors that have handled anything
    long actors;
    long waiting;
    long handled;
    long failed;
    double perSecond;

    ScopeTotals(int place) {
      this.place = place;
    }

    void add(ActorRow row) {
      actors++;
      waiting += row.figures().queued();
      handled += row.figures().handled();
      failed += row.figures().failed();
      perSecond += row.perSecond();
      if (row.figures().handled() > 0) handledBy.put(row.figures().name(), row.figures().handled());
    }
  }

  private final long nanos;
  private final boolean texts;
  private final boolean closed;
  private final ActorScope.Report report;
  private final Map<List<String>, ScopeTotals> scopes = new LinkedHashMap<>(); // outer ones first
  private final List<ActorRow> rows = new ArrayList<>();
  private final DeadLetterTable letters;
  private final String json;

  private ScopeSnapshot(ActorScope scope, long nanos, boolean texts, Optional<ScopeSnapshot> last) {
    var before = last.filter(one -> nanos - one.nanos < MAX_AGE_NANOS);
    double seconds = before.map(one -> (nanos - one.nanos) / 1e9).orElse(Double.NaN);
    this.nanos = nanos;
    this.texts = texts;
    this.closed = scope.isClosed();
    this.report = scope.report();
    sums(List.of(scope.name())); // perhaps it has no actors
    for (var figures : scope.actors()) {
      var sums = sums(figures.scopes());
      var row = new ActorRow(figures, sums.place, (figures.handled() - handledBefore(before, figures)) / seconds);
      sums.add(row);
      rows.add(row);
    }
    this.letters =
        DeadLetterTable.of(scope.deadLetters(), texts, last.map(one -> one.letters).orElse(DeadLetterTable.NONE));
    this.json = json(rates(before, seconds));
  }

  static ScopeSnapshot take(ActorScope scope, long nanos, boolean texts, Optional<ScopeSnapshot> last) {
    return new ScopeSnapshot(scope, nanos, texts, last);
  }

  private ScopeTotals sums(List<String> names) {
    var found = scopes.get(names);
    if (found != null) return found;
    if (names.size() > 1) sums(names.subList(0, names.size() - 1)); // perhaps the one around has no actors
    var made = new ScopeTotals(scopes.size());
    scopes.put(List.copyOf(names), made);
    return made;
  }

  /** Never more than now, because a new actor may have the name of an actor that has ended. */
  private static long handledBefore(Optional<ScopeSnapshot> before, ActorStats figures) {
    var sums = before.map(one -> one.scopes.get(figures.scopes())).orElse(null);
    return sums == null ? 0 : Math.min(figures.handled(), sums.handledBy.getOrDefault(figures.name(), 0L));
  }

  private Map<String, Object> rates(Optional<ScopeSnapshot> before, double seconds) {
    var then = before.map(one -> one.report).orElse(report);
    return JsonText.object("sent", ActorRow.rounded((report.sent() - then.sent()) / seconds),
        "handled", ActorRow.rounded((report.handled() - then.handled()) / seconds),
        "unhandled", ActorRow.rounded((unhandled(report) - unhandled(then)) / seconds));
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

  /** The actors that have this in their names, or in that of their scope, in any case. */
  String filtered(String filter) {
    var part = filter.toLowerCase(Locale.ROOT);
    return JsonText
        .of(JsonText.object("filter", filter, "rows", maps(rows.stream().filter(row -> has(part, row)).toList())));
  }

  private static boolean has(String part, ActorRow row) {
    return row.figures().name().toLowerCase(Locale.ROOT).contains(part)
        || row.figures().scope().toLowerCase(Locale.ROOT).contains(part);
  }

  private List<Map<String, Object>> maps(List<ActorRow> some) {
    return ActorRow.choose(some).stream().map(row -> row.asMap(texts)).toList();
  }

  private String json(Map<String, Object> rates) {
    var reasons = new LinkedHashMap<String, Object>();
    for (var reason : DeadLetter.Reason.values())
      reasons.put(reason.name().toLowerCase(Locale.ROOT), report.unhandled().getOrDefault(reason, 0L));
    var tree = new ArrayList<Map<String, Object>>();
    scopes.forEach(
        (names, sums) -> tree.add(JsonText.object("names", names, "actors", sums.actors, "waiting", sums.waiting,
            "handled", sums.handled, "perSecond", ActorRow.rounded(sums.perSecond), "failed", sums.failed)));
    return JsonText.of(JsonText.object("scope", report.scope(), "closed", closed, "sent", report.sent(), "handled",
        report.handled(), "handling", report.handling(), "waiting", report.queued(), "unhandled", reasons, "perSecond",
        rates, "running", report.unresponsive(), "actors", rows.size(), "scopes", tree, "rows", maps(rows),
        "deadLetters",
        letters.groups(),
        "rings", letters.cycles()));
  }
}
