package io.fibry.micrometer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micrometer.core.instrument.MockClock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.ObjectMapper;

/**
 * Tests that the expressions of the alerts, of the dashboard and of ALERTS.md read meters that
 * exist.
 */
class MonitoringFilesTest {
  private static final Path DASHBOARD = Path.of("grafana/fibry.json");
  private static final Path PAGE = Path.of("ALERTS.md");
  private static final Pattern VALUE_OF_LABEL = Pattern.compile("\\{\\{ ?(?:\\$labels\\.)?(\\w+) ?}}");
  private static final Pattern LABEL_OF_RULE = Pattern.compile("\\$labels\\.(\\w+)");
  private static final Pattern QUERY_OF_RULE = Pattern.compile("\\{\\{ range printf `([^`]+)` ([^|]+) \\| query }}");
  private static final Pattern LABEL_OF_RESULT = Pattern.compile("\\{\\{ \\.Labels\\.(\\w+) }}");
  private static final Pattern VARIABLE = Pattern.compile("label_values\\((.+), (\\w+)\\)");
  private static final int GRID_WIDTH = 24;
  // ids of Grafana's formats of values
  private static final Set<String> UNITS = Set.of("s", "short", "percentunit", "reqps", "ops");
  private static final Pattern CODE = Pattern.compile("`([^`\\n]+)`");

  private final MockClock clock = new MockClock();

  @TempDir
  Path folder;

  private interface Check {
    void run(PromQl promQl) throws Exception;
  }

  /**
   * Runs the check with a scrape of all meters, and with the series {@code up} and {@code ALERTS}
   * that Prometheus adds. Java 21 has no meters of the scheduler.
   */
  private void withScrape(Check check) throws Exception {
    var registry = AllMeters.prometheus(clock);
    AllMeters.with(registry, clock, folder, () -> {
      var missing = registry.find("fibry.scheduler.queued").meter() != null ? ""
          : List.of("parallelism", "carriers", "mounted", "queued").stream()
              .map(name -> "# TYPE fibry_scheduler_" + name + " gauge\nfibry_scheduler_" + name + " 1.0\n")
              .reduce("", String::concat);
      var labels = Stream.of("alertstate", "scope", "actor", "server", "method", "uri", "topic", "breaker", "store",
          "app", "node").map(label -> "," + label + "=\"firing\"").reduce("alertname=\"FibryX\"", String::concat);
      check.run(new PromQl(registry.scrape() + missing + "# TYPE up gauge\nup 1.0\n# TYPE ALERTS gauge\nALERTS{"
          + labels + "} 1.0\n"));
    });
  }

  private static AlertRule rule(String alert) throws Exception {
    return AlertRule.all().stream().filter(rule -> rule.alert().equals(alert)).findFirst().orElseThrow();
  }

  @Test
  void alertsReadMetersThatExist() throws Exception {
    withScrape(promQl -> {
      for (var rule : AlertRule.all()) {
        var labels = promQl.check(rule.expression());
        assertTrue(rule.expression().matches(".* (==|[<>]=?) .*"), rule.alert() + " has no limit");
        assertTrue(labels.containsAll(List.of("job", "instance")), rule.alert() + " names no process: " + labels);
        assertEquals(List.of(), LABEL_OF_RULE.matcher(rule.summary()).results().map(match -> match.group(1))
            .filter(label -> !labels.contains(label)).toList(), rule.alert() + " has " + labels);
      }
    });
  }

  /**
   * An alert of a sum must show one actor, because the tag of the sum is {@code *}. The name must
   * not be a label of the alert, which would begin again with each name. While a scrape fails, the
   * query finds the last name.
   */
  @ParameterizedTest
  @CsvSource({"FibryActorStuck, max_busy_seconds", "FibryMessageWaits, max_waiting_seconds",
    "FibryMailboxFull, max_refused", "FibryActorFails, max_failed", "FibryActorRestarts, max_restarted",
    "FibryMessagesGrow, max_grown"})
  void alertOfActorsQueriesNameOfWorst(String alert, String gauge) throws Exception {
    withScrape(promQl -> {
      var rule = rule(alert);
      var labels = promQl.check(rule.expression());
      assertTrue(labels.contains("actor") && !labels.contains("name"), labels::toString);
      var query = QUERY_OF_RULE.matcher(rule.summary());
      assertTrue(query.find(), rule.summary());
      var arguments = LABEL_OF_RULE.matcher(query.group(2)).results().map(match -> match.group(1)).toList();
      assertEquals(arguments, Pattern.compile("(\\w+)=%q").matcher(query.group(1)).results()
          .map(match -> match.group(1)).toList());
      assertTrue(query.group(1).matches("topk\\(1, max_over_time\\(timestamp\\(fibry_actor_" + gauge
          + "\\{[^}]+}\\)\\[\\w+:15s]\\)\\)"), query.group(1));
      assertTrue(promQl.check(query.group(1).replaceAll("\\w+=%q,?", "").replace("{}", "")).contains("name"), alert);
      assertTrue(labels.containsAll(arguments), () -> labels + " instead of " + arguments);
      assertTrue(rule.summary().contains("{{ .Labels.name }}"), alert);
    });
  }

  /**
   * An alert of a whole scope shows the worst actors of all groups. While the meters of the scope
   * are missing, because a scrape failed, the query finds the names of the scrapes before.
   */
  @ParameterizedTest
  @CsvSource({"FibryMessagesPileUp, max_queued, 3m, messages_waiting",
    "FibryActorsSuspended, max_suspended, 3m, scope_suspended",
    "FibryRequestsExpire, max_expired, 5m, messages_waiting"})
  void alertOfScopeQueriesNamesOfActors(String alert, String gauge, String range, String ofScope) throws Exception {
    var query = QUERY_OF_RULE.matcher(rule(alert).summary());
    assertTrue(query.find(), alert);

    var ofActors = "fibry_actor_" + gauge;
    assertEquals("topk(3, " + ofActors + " or last_over_time(" + ofActors + "[" + range
        + "]) unless on (scope) fibry_" + ofScope + ")",
        query.group(1).replace("{job=%[1]q,instance=%[2]q,scope=%[3]q}", ""));
    assertTrue(rule(alert).summary().contains("{{ .Labels.name }}"), alert);
  }

  @Test
  void eachSummaryNamesInstanceAndHasReadableNumbers() throws Exception {
    for (var rule : AlertRule.all()) {
      assertTrue(rule.summary().contains("{{ $labels.instance }}"), rule.alert());
      assertFalse(rule.summary().contains("{{ $value }}"), rule.alert() + " shows 1500000 as 1.5e+06");
    }
  }

  /** Each query in a text reads meters that exist, and shows a label of its result. */
  @Test
  void queriesInTextsOfAlertsReadMetersThatExist() throws Exception {
    withScrape(promQl -> {
      int count = 0;
      for (var rule : AlertRule.all()) {
        var query = QUERY_OF_RULE.matcher(rule.summary());
        if (!query.find()) continue;
        count++;
        var labels = promQl.check(query.group(1).replaceAll("\\w+=%(?:\\[\\d])?q,?", "").replace("{}", ""));
        var shown = LABEL_OF_RESULT.matcher(rule.summary()).results().map(match -> match.group(1)).toList();
        assertTrue(!shown.isEmpty() && labels.containsAll(shown),
            () -> rule.alert() + " shows " + shown + " of " + labels);
      }
      assertTrue(count >= 11, "only " + count + " queries");
    });
  }

  /** A loss that another alert describes better does not fire this alert as well. */
  @Test
  void alertOfLostMessagesLeavesFullMailboxesToOtherAlerts() throws Exception {
    var lost = rule("FibryMessagesLost").expression();

    assertTrue(lost.contains("|timer_cancelled|dropped|rejected|failed|nested_request_failed\""), lost);
    for (var better : List.of("fibry_topic_dropped_total", "fibry_topic_refused_total", "fibry_actor_refused_total"))
      assertTrue(lost.indexOf(better) > lost.indexOf("unless"), lost);
    assertTrue(lost.contains("outcome=~\"dropped|rejected\""), "compares no amounts: " + lost);
    assertFalse(rule("FibryMailboxFull").expression().contains("dropped"), "an intended drop is no full mailbox");
  }

  /** Alerts of routes name the server, and one response of a quiet route fires none. */
  @Test
  void alertsOfRoutesKeepServerAndNeedFiveResponses() throws Exception {
    for (var rule : AlertRule.all()) {
      if (!rule.alert().startsWith("FibryRoute")) continue;
      assertTrue(rule.summary().contains("{{ $labels.server }} at {{ $labels.instance }}"), rule.alert());
      assertTrue(rule.expression().contains("sum by (job, instance, server, method, uri)"), rule.alert());
      assertTrue(rule.expression().matches("\\(.*increase.* >= 5\\) / .* > 0\\.01"), rule.alert());
    }
  }

  /** The series of the subscribers end with them, and do not exist beyond the oldest 20. */
  @Test
  void alertOfTopicReadsSumsAndQueriesSubscribers() throws Exception {
    withScrape(promQl -> {
      var rule = rule("FibrySubscriberLosesMessages");
      assertTrue(!rule.expression().contains("subscriber"), rule.expression());
      var query = QUERY_OF_RULE.matcher(rule.summary());
      assertTrue(query.find(), rule.summary());
      var labels = promQl.check(query.group(1).replaceAll("\\{(?:\\w+=%\\[\\d]q,?)+}", ""));
      assertTrue(labels.containsAll(List.of("job", "instance", "topic", "subscriber")), labels::toString);
    });
  }

  @Test
  void eachAlertSaysWhatToDoAlsoInPage() throws Exception {
    var page = Files.readString(PAGE);
    var alerts = new TreeSet<String>();
    for (var rule : AlertRule.all()) {
      assertTrue(alerts.add(rule.alert()), rule.alert());
      assertTrue(rule.action().matches("[A-Z].*\\."), rule.alert());
      assertTrue(Pattern
          .compile("(?m)^\\| " + rule.alert() + " \\| " + rule.severity() + " \\| .+ \\| "
              + Pattern.quote(rule.action()) + " \\|$")
          .matcher(page).find(), rule.alert());
    }
    assertEquals(alerts, new TreeSet<>(Pattern.compile("(?m)^\\| (Fibry\\w+) \\|").matcher(page).results()
        .map(match -> match.group(1)).toList()));
  }

  /** Only promtool can run these tests. Users who change the rules need them. */
  @Test
  void eachAlertHasTestsForPromtool() throws Exception {
    var tests = Files.readString(AlertRule.FILE.resolveSibling("rules-test.yml"));
    for (var rule : AlertRule.all()) {
      assertTrue(tests.contains("alertname: " + rule.alert() + "\n        exp_alerts:\n          - exp_labels:"),
          rule.alert());
      assertTrue(tests.contains("action: \"" + rule.action() + "\""), rule.alert());
    }
    assertTrue(tests.split("instance=\"good:8080\"").length > AlertRule.all().size(),
        "each test has a healthy process");
  }

  /**
   * Scrapes that fail for two minutes must not end an alert, which would begin again. An alert
   * shorter than the group_interval of Alertmanager may reach nobody. The alerts on the state of an
   * actor end with it, because their texts name the actor.
   */
  @Test
  void eachAlertOutlastsFailedScrapesAndGroupInterval() throws Exception {
    for (var rule : AlertRule.all())
      assertEquals(rule.endsWithScrape() ? 0 : rule.isLoss() ? 10 : 5, rule.keptMinutes(), rule.alert());
    assertEquals(List.of("FibryActorStuck", "FibryMessageWaits"),
        AlertRule.all().stream().filter(AlertRule::endsWithScrape).map(AlertRule::alert).toList());
    assertEquals(List.of("FibryMessagesLost", "FibrySubscriberLosesMessages", "FibryStoreRefuses"),
        AlertRule.all().stream().filter(AlertRule::isLoss).map(AlertRule::alert).toList());
    assertTrue(Files.readString(AlertRule.FILE.resolveSibling("rules-test.yml"))
        .contains("count_over_time(ALERTS{alertname!=\"FibryProcessGone\",alertstate=\"firing\"}[18m])"));
  }

  /** The causes of all alerts last for ten minutes in the test of these times. */
  @Test
  void eachAlertHasTestOfItsEnd() throws Exception {
    var tests = Files.readString(AlertRule.FILE.resolveSibling("rules-test.yml"));
    var all = samples(AlertRule.all().stream());
    var firing = "      - expr: count by (alertname) (ALERTS{alertstate=\"firing\"})\n        eval_time: ";

    assertTrue(
        tests.contains(firing + "9m\n        exp_samples: []\n" + firing + "20m\n        exp_samples:\n" + all + firing
            + "25m\n        exp_samples:\n"
            + samples(AlertRule.all().stream().filter(rule -> !rule.endsWithScrape())) + firing
            + "26m\n        exp_samples:\n"
            + samples(AlertRule.all().stream().filter(AlertRule::countsEvents)) + firing
            + "30m\n        exp_samples:\n"
            + samples(AlertRule.all().stream().filter(rule -> rule.isLoss() || rule.expression().contains("[10m]")))
            + firing + "35m\n        exp_samples: []\n"),
        all);
  }

  private static String samples(Stream<AlertRule> rules) {
    return rules.map(AlertRule::alert).sorted()
        .map(alert -> "          - labels: '{alertname=\"" + alert + "\"}'\n            value: 1\n")
        .collect(Collectors.joining());
  }

  /**
   * A dashboard with a mistake here loads, and shows a panel that is empty, unreadable or above
   * another panel.
   */
  @Test
  void panelsOfDashboardFitGrafana() throws Exception {
    var dashboard = new ObjectMapper().readTree(Files.readString(DASHBOARD));
    var occupied = new TreeSet<Integer>(); // cells of the grid
    var titles = new TreeSet<String>();
    for (var panel : dashboard.get("panels")) {
      assertTrue(titles.add(panel.get("title").asString()), panel::toString);
      var grid = panel.get("gridPos");
      int x = grid.get("x").asInt();
      int y = grid.get("y").asInt();
      assertTrue(x + grid.get("w").asInt() <= GRID_WIDTH, panel::toString);
      for (int column = x; column < x + grid.get("w").asInt(); column++)
        for (int row = y; row < y + grid.get("h").asInt(); row++)
          assertTrue(occupied.add(row * GRID_WIDTH + column), panel::toString);
      if (panel.get("type").asString().equals("row")) {
        assertTrue(panel.get("panels").isEmpty() && !panel.get("collapsed").asBoolean(), panel::toString);
        continue;
      }
      assertEquals("timeseries", panel.get("type").asString());
      assertEquals("{\"type\":\"prometheus\",\"uid\":\"${datasource}\"}", panel.get("datasource").toString());
      assertTrue(UNITS.contains(panel.get("fieldConfig").get("defaults").get("unit").asString()), panel::toString);
      var legend = panel.get("options").get("legend");
      assertTrue(legend.get("showLegend").asBoolean() && legend.has("calcs"), panel::toString);
      var letter = 'A';
      for (var target : panel.get("targets"))
        assertEquals(String.valueOf(letter++), target.get("refId").asString(), panel::toString);
    }
    for (var variable : dashboard.get("templating").get("list"))
      if (variable.get("type").asString().equals("query"))
        assertEquals("${datasource}", variable.get("datasource").get("uid").asString());
    assertTrue(dashboard.get("annotations").has("list"), "Grafana's schema requires annotations");
    assertTrue(titles.size() > 20, titles::toString);
  }

  @Test
  void panelsOfDashboardReadMetersThatExist() throws Exception {
    var panels = new ObjectMapper().readTree(Files.readString(DASHBOARD)).get("panels");
    var ids = new TreeSet<Integer>();
    withScrape(promQl -> {
      for (var panel : panels) {
        assertTrue(ids.add(panel.get("id").asInt()), panel::toString);
        if (panel.get("type").asString().equals("row")) continue;
        assertTrue(panel.get("description").asString().endsWith("."), panel::toString);
        for (var target : panel.get("targets")) checkTarget(promQl, target);
      }
    });
    assertTrue(ids.size() > 20, ids::toString);
  }

  /** A variable that selects nothing must show all. */
  @Test
  void variablesOfDashboardReadMetersThatExist() throws Exception {
    var variables = new ObjectMapper().readTree(Files.readString(DASHBOARD)).get("templating").get("list");
    var names = new ArrayList<String>();
    withScrape(promQl -> {
      for (var variable : variables) {
        names.add(variable.get("name").asString());
        if (!variable.get("type").asString().equals("query")) continue;
        assertEquals(".*", variable.get("allValue").asString());
        var query = VARIABLE.matcher(variable.get("query").get("query").asString());
        assertTrue(query.matches(), variable::toString);
        var labels = promQl.check(query.group(1).replaceAll("\\$(job|instance|server)\\b", ".*"));
        assertTrue(labels.contains(query.group(2)), () -> query.group(2) + " of " + labels);
      }
    });
    assertEquals(List.of("datasource", "job", "instance", "server", "route"), names);
  }

  private static void checkTarget(PromQl promQl, JsonNode target) {
    var expression = target.get("expr").asString();
    for (var selector : AlertRule.SELECTOR.matcher(expression).results().map(MatchResult::group).toList()) {
      assertTrue(selector.contains("job=~\"$job\",instance=~\"$instance\""), selector);
      if (selector.startsWith("fibry_http"))
        assertTrue(selector.contains("server=~\"$server\",uri=~\"$route\""), selector);
      if (selector.startsWith("fibry_server")) assertTrue(selector.contains("server=~\"$server\""), selector);
    }
    var labels = promQl.check(expression.replaceAll("\\$(job|instance|server|route)\\b", ".*"));
    var shown = VALUE_OF_LABEL.matcher(target.get("legendFormat").asString()).results().map(match -> match.group(1))
        .toList();
    assertTrue(labels.containsAll(shown), () -> shown + " of " + labels + " in " + target);
  }

  @Test
  void expressionsOfPagesReadMetersThatExist() throws Exception {
    var questions = Files.readAllLines(PAGE).stream().filter(line -> line.matches("\\| .*\\? \\| .*")).toList();
    assertTrue(questions.size() >= 10, questions::toString);
    var expressions = new ArrayList<String>();
    for (var question : questions) {
      var ofQuestion = CODE.matcher(question).results().map(match -> match.group(1))
          .filter(code -> code.contains("fibry_")).toList();
      assertTrue(!ofQuestion.isEmpty(), question);
      expressions.addAll(ofQuestion);
    }
    var pages = Files.readString(PAGE) + Files.readString(Path.of("METERS.md"));
    expressions.addAll(CODE.matcher(pages).results().map(match -> match.group(1))
        .filter(code -> code.contains("(fibry_") || code.matches(".*fibry_\\w+ [-+*/<>=].*")).toList());
    for (var asked : List.of("stuck, and since when", "waits longest", "route fails", "route is slow", "Who refuses",
        "What grows", "What restarts", "node is gone"))
      assertTrue(questions.stream().anyMatch(question -> question.contains(asked)), asked);
    withScrape(promQl -> expressions.forEach(promQl::check));
  }

  @Test
  void checkOfExpressionsFindsMistakes() throws Exception {
    withScrape(promQl -> {
      assertEquals(new TreeSet<>(List.of("uri")),
          promQl.check("topk(3, sum by (uri) (rate(fibry_http_responses_total{outcome=\"SUCCESS\"}[5m]))) > 0.5"));
      promQl.check("max_over_time(increase(fibry_actor_failed_total[5m])[5m:1m]) > 1");
      promQl.check("topk(1, max_over_time(timestamp(fibry_node_members)[1d:1m]))");
      promQl.check("sum by (job) (fibry_actor_living or fibry_breaker_open)");
      for (var wrong : List.of("fibry_nothing > 1", "fibry_actor_busy_seconds{route=\"x\"}",
          "fibry_actor_busy_seconds{actor=\"nobody\"}", "rate(fibry_actor_busy_seconds[5m])",
          "rate(fibry_actor_failed_total)", "min_over_time(fibry_actor_failed_total[5m])", "sum(fibry_actor_living",
          "sum by (route) (fibry_actor_living)", "fibry_actor_living / fibry_scope_suspended", "fibry_actor_living >",
          "histogram_quantile(0.9, sum by (scope) (rate(fibry_wait_seconds_bucket[5m])))", "fibry_actor_living[5m] > 1",
          "fibry_actor_living ! 1", "fibry_actor_living 1", "delta(fibry_actor_failed_total)",
          "fibry_actor_living unless on (app) fibry_node_alive", "fibry_actor_living * on (job) fibry_node_alive",
          "sum by (scope) (fibry_actor_living or fibry_breaker_open)", "timestamp(fibry_actor_living[5m])",
          "fibry_actor_living offset 5", "max_over_time(fibry_actor_living[5m][5m:1m])"))
        assertThrows(AssertionError.class, () -> promQl.check(wrong), wrong);
    });
  }
}
