package io.fibry.micrometer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micrometer.core.instrument.MockClock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.ObjectMapper;

/**
 * Tests that the expressions of the alerts, of the dashboard and of the README read meters that
 * exist.
 */
class MonitoringFilesTest {
  private static final Path RULES = Path.of("prometheus/rules.yml");
  private static final Path DASHBOARD = Path.of("grafana/fibry.json");
  private static final Path README = Path.of("README.md");
  private static final Pattern RULE = Pattern.compile("""
       {6}- alert: (\\w+)
       {8}expr: ([^\\n]+)
       {8}for: (\\d+)m
       {8}labels:
       {10}severity: (?:page|ticket)
       {8}annotations:
       {10}summary: "([^"\\n]+)"
       {10}action: "([^"\\n]+)"
      """);
  private static final Pattern VALUE_OF_LABEL = Pattern.compile("\\{\\{ ?(?:\\$labels\\.)?(\\w+) ?}}");
  private static final Pattern LABEL_OF_RULE = Pattern.compile("\\$labels\\.(\\w+)");
  private static final Pattern QUERY_OF_RULE = Pattern.compile("\\{\\{ range printf `([^`]+)` ([^|]+) \\| query }}");
  private static final Pattern CODE = Pattern.compile("`([^`\\n]+)`");

  private final MockClock clock = new MockClock();

  @TempDir
  Path folder;

  private record Rule(String alert, String expression, int minutes, String summary, String action) {}

  private interface Check {
    void run(PromQl promQl) throws Exception;
  }

  /** Runs the check with a scrape of all meters. Java 21 has no meters of the scheduler. */
  private void withScrape(Check check) throws Exception {
    var registry = AllMeters.prometheus(clock);
    AllMeters.with(registry, clock, folder, () -> {
      var missing = registry.find("fibry.scheduler.queued").meter() != null ? ""
          : List.of("parallelism", "carriers", "mounted", "queued").stream()
              .map(name -> "# TYPE fibry_scheduler_" + name + " gauge\nfibry_scheduler_" + name + " 1.0\n")
              .reduce("", String::concat);
      check.run(new PromQl(registry.scrape() + missing));
    });
  }

  private static List<Rule> rules() throws Exception {
    var text = Files.readString(RULES);
    int start = text.indexOf("      - alert");
    var rules = new ArrayList<Rule>();
    var matcher = RULE.matcher(text).region(start, text.length());
    while (matcher.lookingAt()) {
      rules.add(new Rule(matcher.group(1), matcher.group(2), Integer.parseInt(matcher.group(3)), matcher.group(4),
          matcher.group(5)));
      matcher.region(matcher.end(), text.length());
    }
    assertEquals("", text.substring(matcher.regionStart()), "the text after the last rule that this test can read");
    assertTrue(text.substring(0, start).endsWith("\ngroups:\n  - name: fibry\n    rules:\n"), text.substring(0, start));
    return rules;
  }

  @Test
  void alertsReadMetersThatExist() throws Exception {
    withScrape(promQl -> {
      for (var rule : rules()) {
        var labels = promQl.check(rule.expression);
        assertTrue(rule.expression.matches(".* (==|>|<) .*"), rule.alert + " has no limit");
        assertEquals(List.of(), LABEL_OF_RULE.matcher(rule.summary).results().map(match -> match.group(1))
            .filter(label -> !labels.contains(label)).toList(), rule.alert + " has " + labels);
      }
    });
  }

  /**
   * An alert of a sum must show one actor, because the tag of the sum is {@code *}. The name must
   * not be a label of the alert, which would begin again with each name.
   */
  @Test
  void alertOfStuckActorQueriesItsName() throws Exception {
    withScrape(promQl -> {
      for (var alert : List.of("FibryActorStuck", "FibryMessageWaits")) {
        var rule = rules().stream().filter(candidate -> candidate.alert.equals(alert)).findFirst().orElseThrow();
        var labels = promQl.check(rule.expression);
        assertTrue(labels.contains("actor") && !labels.contains("name"), labels::toString);
        var query = QUERY_OF_RULE.matcher(rule.summary);
        assertTrue(query.find(), rule.summary);
        var arguments = LABEL_OF_RULE.matcher(query.group(2)).results().map(match -> match.group(1)).toList();
        assertEquals(arguments, Pattern.compile("(\\w+)=%q").matcher(query.group(1)).results()
            .map(match -> match.group(1)).toList());
        assertTrue(promQl.check(query.group(1).replaceAll("\\w+=%q,?", "").replace("{}", "")).contains("name"), alert);
        assertTrue(labels.containsAll(arguments), () -> labels + " instead of " + arguments);
        assertTrue(rule.summary.contains("{{ .Labels.name }}"), alert);
      }
    });
  }

  /** Alerts of routes name the server, and one response of a quiet route fires none. */
  @Test
  void alertsOfRoutesKeepServerAndNeedFiveResponses() throws Exception {
    for (var rule : rules()) {
      if (!rule.alert.startsWith("FibryRoute")) continue;
      assertTrue(rule.summary.contains("{{ $labels.server }}"), rule.alert);
      assertTrue(rule.expression.contains("sum by (job, server, method, uri)"), rule.alert);
      assertTrue(rule.alert.equals("FibryRouteSlow") || rule.expression.matches(".* and .*increase.* >= 5"),
          rule.alert);
    }
  }

  /** A rule with both would fire after twice the time that its text says. */
  @Test
  void noAlertOfWindowAlsoWaits() throws Exception {
    assertEquals(List.of(), rules().stream()
        .filter(rule -> rule.expression.contains("_over_time(") && rule.minutes > 0).map(Rule::alert).toList());
  }

  /** The series of the subscribers end with them, and do not exist beyond the oldest 20. */
  @Test
  void alertOfTopicReadsSumsAndQueriesSubscribers() throws Exception {
    withScrape(promQl -> {
      var rule = rules().stream().filter(candidate -> candidate.alert.equals("FibrySubscriberLosesMessages"))
          .findFirst().orElseThrow();
      assertTrue(!rule.expression.contains("subscriber"), rule.expression);
      var query = QUERY_OF_RULE.matcher(rule.summary);
      assertTrue(query.find(), rule.summary);
      var labels = promQl.check(query.group(1).replaceAll("\\{(?:\\w+=%\\[\\d]q,?)+}", ""));
      assertTrue(labels.containsAll(List.of("job", "instance", "topic", "subscriber")), labels::toString);
    });
  }

  @Test
  void eachAlertSaysWhatToDoAlsoInReadme() throws Exception {
    var readme = Files.readString(README);
    var alerts = new TreeSet<String>();
    for (var rule : rules()) {
      assertTrue(alerts.add(rule.alert), rule.alert);
      assertTrue(rule.action.matches("[A-Z].*\\."), rule.alert);
      assertTrue(Pattern.compile("(?m)^\\| " + rule.alert + " \\| .+ \\| " + Pattern.quote(rule.action) + " \\|$")
          .matcher(readme).find(), rule.alert);
    }
    assertEquals(alerts, new TreeSet<>(Pattern.compile("(?m)^\\| (Fibry\\w+) \\|").matcher(readme).results()
        .map(match -> match.group(1)).toList()));
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

  private static void checkTarget(PromQl promQl, JsonNode target) {
    var labels = promQl.check(target.get("expr").asString());
    var shown = VALUE_OF_LABEL.matcher(target.get("legendFormat").asString()).results().map(match -> match.group(1))
        .toList();
    assertTrue(labels.containsAll(shown), () -> shown + " of " + labels + " in " + target);
  }

  @Test
  void expressionsOfReadmeReadMetersThatExist() throws Exception {
    var questions = Files.readAllLines(README).stream().filter(line -> line.matches("\\| .*\\? \\| .*")).toList();
    assertTrue(questions.size() >= 10, questions::toString);
    var expressions = new ArrayList<String>();
    for (var question : questions) {
      var ofQuestion = CODE.matcher(question).results().map(match -> match.group(1))
          .filter(code -> code.contains("fibry_")).toList();
      assertTrue(!ofQuestion.isEmpty(), question);
      expressions.addAll(ofQuestion);
    }
    expressions.addAll(CODE.matcher(Files.readString(README)).results().map(match -> match.group(1))
        .filter(code -> code.contains("(fibry_") || code.matches(".*fibry_\\w+ [-+*/<>=].*")).toList());
    withScrape(promQl -> expressions.forEach(promQl::check));
  }

  @Test
  void checkOfExpressionsFindsMistakes() throws Exception {
    withScrape(promQl -> {
      assertEquals(new TreeSet<>(List.of("uri")),
          promQl.check("topk(3, sum by (uri) (rate(fibry_http_responses_total{outcome=\"SUCCESS\"}[5m]))) > 0.5"));
      for (var wrong : List.of("fibry_nothing > 1", "fibry_actor_busy_seconds{route=\"x\"}",
          "fibry_actor_busy_seconds{actor=\"nobody\"}", "rate(fibry_actor_busy_seconds[5m])",
          "rate(fibry_actor_failed_total)", "min_over_time(fibry_actor_failed_total[5m])", "sum(fibry_actor_living",
          "sum by (route) (fibry_actor_living)", "fibry_actor_living / fibry_scope_suspended", "fibry_actor_living >",
          "histogram_quantile(0.9, sum by (scope) (rate(fibry_wait_seconds_bucket[5m])))", "fibry_actor_living[5m] > 1",
          "fibry_actor_living ! 1", "fibry_actor_living 1"))
        assertThrows(AssertionError.class, () -> promQl.check(wrong), wrong);
    });
  }
}
