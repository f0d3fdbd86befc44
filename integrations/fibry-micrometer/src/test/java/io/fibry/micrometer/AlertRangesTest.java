package io.fibry.micrometer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests the ranges of time that the expressions of the alerts read. */
class AlertRangesTest {
  /**
   * After the end of a process, its series are missing. A new process has no series of two minutes
   * ago. A range has the samples that exist.
   */
  @Test
  void eachAlertOnEventsReadsOnlyRanges() throws Exception {
    for (var rule : AlertRule.all())
      if (rule.countsEvents()) for (var selector : AlertRule.SELECTOR.matcher(rule.expression()).results().toList())
        assertTrue(rule.expression().startsWith("[", selector.end()), rule.alert() + ": " + selector.group());
  }

  /** A failed scrape must not restart the time for which a state has to last before its alert. */
  @Test
  void eachAlertOnStateThatWaitsReadsLastScrape() throws Exception {
    int count = 0;
    for (var rule : AlertRule.all()) {
      if (rule.minutes() == 0 || rule.countsEvents() || rule.alert().equals("FibryProcessGone")) continue;
      for (var selector : AlertRule.SELECTOR.matcher(rule.expression()).results().toList()) {
        assertTrue(rule.expression().substring(0, selector.start()).endsWith("last_over_time("), rule.expression());
        count++;
      }
    }
    assertTrue(count >= 14, "only " + count + " meters");
  }

  /** A rule with both would fire after twice the time that its text says. */
  @Test
  void noAlertOfWindowAlsoWaits() throws Exception {
    assertEquals(List.of(), AlertRule.all().stream()
        .filter(rule -> rule.expression().split(" and on ")[0].matches(".*(?<!last)_over_time\\(.*"))
        .filter(rule -> rule.minutes() > 1)
        .map(AlertRule::alert).toList());
  }

  /** The rate of a single event stays above zero for the whole window. */
  @Test
  void noAlertFiresAtAnyRate() throws Exception {
    assertEquals(List.of(), AlertRule.all().stream().map(AlertRule::expression)
        .filter(expression -> expression.matches("rate\\(.*\\) > 0")).toList());
  }
}
