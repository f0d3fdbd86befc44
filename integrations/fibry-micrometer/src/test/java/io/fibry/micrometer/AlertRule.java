package io.fibry.micrometer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** An alert of the file of rules; times in minutes. */
record AlertRule(String alert, String expression, int minutes, int keptMinutes, String severity, String summary,
    String action) {
  static final Path FILE = Path.of("prometheus/rules.yml");
  /** A meter with its labels. */
  static final Pattern SELECTOR = Pattern.compile("fibry_\\w+(\\{[^}]*})?");
  private static final Pattern RULE = Pattern.compile("""
       {6}- alert: (\\w+)
       {8}expr: (\\|(?:\\n {10}[^\\n]+)+|[^|\\n]+)
       {8}for: (\\d+)m
       {8}keep_firing_for: (\\d+)m
       {8}labels:
       {10}severity: (page|ticket)
       {8}annotations:
       {10}summary: "([^"\\n]+)"
       {10}action: "([^"\\n]+)"
      """);

  static List<AlertRule> all() throws Exception {
    var text = Files.readString(FILE);
    int start = text.indexOf("      - alert");
    var rules = new ArrayList<AlertRule>();
    var matcher = RULE.matcher(text).region(start, text.length());
    while (matcher.lookingAt()) {
      var expression = matcher.group(2).replaceFirst("^\\|", "").strip().replaceAll("\\s+", " ");
      rules.add(new AlertRule(matcher.group(1), expression, Integer.parseInt(matcher.group(3)),
          Integer.parseInt(matcher.group(4)), matcher.group(5), matcher.group(6), matcher.group(7)));
      matcher.region(matcher.end(), text.length());
    }
    assertEquals("", text.substring(matcher.regionStart()), "the text after the last rule that this test can read");
    assertTrue(text.substring(0, start).endsWith("\ngroups:\n  - name: fibry\n    rules:\n"), text.substring(0, start));
    return rules;
  }

  boolean isPage() {
    return severity.equals("page");
  }

  /** Returns whether the expression counts the events of some minutes. */
  boolean countsEvents() {
    return expression.contains("increase(");
  }

  /** Returns whether the first scrape with a smaller value ends the alert. */
  boolean endsWithScrape() {
    return minutes == 0 && expression.matches("last_over_time\\(\\w+\\[3m]\\) > \\d+");
  }

  /** Returns whether a single event fires the alert. */
  boolean isLoss() {
    return countsEvents() && expression.matches(".*increase\\([^)]+\\) > 0( .*)?");
  }
}
