package io.fibry.micrometer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Tests the example of inhibition rules. */
class AlertmanagerTest {
  private static final Path FILE = Path.of("prometheus/alertmanager.yml");
  private static final Pattern INHIBITION = Pattern.compile("""
       {2}- source_matchers: \\[(.+)]
       {4}target_matchers: \\[(.+)]
       {4}equal: \\[(.+)]
      """);
  private static final Pattern MATCHER = Pattern.compile("'alertname(=|!=|=~)\"([^\"]+)\"'");
  private static final Pattern SUM = Pattern.compile("by \\(([\\w, ]+)\\)");

  private record Inhibition(List<AlertRule> sources, List<AlertRule> targets, Set<String> equal) {}

  private static List<Inhibition> inhibitions() throws Exception {
    var inhibitions = new ArrayList<Inhibition>();
    for (var match : INHIBITION.matcher(Files.readString(FILE)).results().toList())
      inhibitions.add(new Inhibition(select(match.group(1)), select(match.group(2)),
          Set.of(match.group(3).split(", "))));
    return inhibitions;
  }

  private static List<AlertRule> select(String matchers) throws Exception {
    var selected = AlertRule.all();
    var results = MATCHER.matcher(matchers).results().toList();
    assertEquals(matchers.split(", ").length, results.size(), matchers);
    for (var matcher : results) {
      var value = matcher.group(2);
      for (var name : value.split("\\|"))
        assertTrue(name.contains("*") || AlertRule.all().stream().anyMatch(rule -> rule.alert().equals(name)), name);
      selected.removeIf(rule -> switch (matcher.group(1)) {
        case "=~" -> !rule.alert().matches(value);
        case "!=" -> rule.alert().equals(value);
        default -> !rule.alert().equals(value);
      });
    }
    return selected;
  }

  private static Inhibition find(String source, String target) throws Exception {
    return inhibitions().stream().filter(inhibition -> names(inhibition.sources).contains(source)
        && names(inhibition.targets).contains(target)).findFirst().orElseThrow();
  }

  private static List<String> names(List<AlertRule> rules) {
    return rules.stream().map(AlertRule::alert).toList();
  }

  @Test
  void eachInhibitionNamesAlertsThatExist() throws Exception {
    var inhibitions = inhibitions();

    assertEquals(Files.readString(FILE).split("- source_matchers").length - 1, inhibitions.size());
    for (var inhibition : inhibitions) {
      assertTrue(!inhibition.sources.isEmpty() && !inhibition.targets.isEmpty(), inhibition::toString);
      var both = new TreeSet<>(names(inhibition.sources));
      both.retainAll(names(inhibition.targets));
      assertEquals(Set.of(), both, "an alert must not mute itself");
    }
  }

  /** Otherwise a person who must act now would not be woken. */
  @Test
  void noTicketInhibitsPage() throws Exception {
    for (var inhibition : inhibitions())
      if (inhibition.targets.stream().anyMatch(AlertRule::isPage))
        assertEquals(List.of(), inhibition.sources.stream().filter(rule -> !rule.isPage()).toList());
  }

  /** A label that neither alert has is equal, too, and would let an alert mute a foreign scope. */
  @Test
  void inhibitionsCompareLabelsThatBothAlertsShow() throws Exception {
    for (var inhibition : inhibitions()) {
      assertTrue(inhibition.equal.containsAll(Set.of("job", "instance")), inhibition.equal::toString);
      for (var label : inhibition.equal)
        if (!Set.of("job", "instance").contains(label))
          for (var rules : List.of(inhibition.sources, inhibition.targets))
            for (var rule : rules) {
              var sum = SUM.matcher(rule.expression());
              assertTrue(sum.find() ? sum.group(1).contains(label) : rule.summary().contains("$labels." + label),
                  () -> rule.alert() + " without " + label);
            }
    }
  }

  /** An alert on another actor, or on its whole scope, may have another cause. */
  @Test
  void stuckActorMutesAlertsThatItCauses() throws Exception {
    var ofActor = Set.of("job", "instance", "scope", "actor");
    for (var target : List.of("FibryMessageWaits", "FibryMessagesGrow", "FibryMailboxFull"))
      assertEquals(ofActor, find("FibryActorStuck", target).equal, target);
    assertEquals(ofActor, find("FibryMessageWaits", "FibryMessagesGrow").equal);
    for (var inhibition : inhibitions())
      if (names(inhibition.targets).stream().noneMatch(name -> name.matches("Fibry(Route|Store).*")))
        assertEquals(ofActor, inhibition.equal);
  }

  /** No label tells which actor a route asks, so the route may fail for another reason. */
  @Test
  void onlyDeadProcessMutesRoutes() throws Exception {
    for (var inhibition : inhibitions())
      if (names(inhibition.targets).stream().anyMatch(name -> name.startsWith("FibryRoute")))
        assertEquals(List.of("FibryProcessGone"), names(inhibition.sources));
    assertTrue(find("FibryProcessGone", "FibryRouteFails").equal.contains("instance"));
  }
}
