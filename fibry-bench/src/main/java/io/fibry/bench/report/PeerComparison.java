package io.fibry.bench.report;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** Ours beside other ways to have an actor. */
final class PeerComparison {
  // a queue, not an actor
  private static final List<String> YARDSTICKS = List.of("jctools");
  // handles messages on the sender's thread, and so promises less
  private static final String CALLER = "fibry, caller";
  private static final double LEVEL = 0.95; // differences above it are not told

  private static final Map<String, String> QUESTIONS = ordered(
      "Make an actor", "jmh-Creation-made",
      "Heap of an idle actor", "idle-made",
      "A message, one sender", "jmh-OneToOne-message",
      "A message, eight senders", "jmh-ManyToOne-message-senders-8",
      "A message to an idle actor", "jmh-Activation-message",
      "A message, 1,024 may wait", "jmh-BackPressure-message-room-1024",
      "A message, by priority", "jmh-Priority-message",
      "A hand-over between two actors", "jmh-PingPong-hit",
      "A request", "jmh-Request-fromVirtual",
      "A message sent later", "jmh-Timers-fired");
  private static final Map<String, String> PEERS = ordered("Pekko", "pekko,pekko-tuned", "Kotlin", "kotlin", "Jox",
      "jox", "POJO-actor", "pojo-actor", "thread and queue", "virtual-queue,platform-queue", "executor",
      "executor,executor-virtual");

  private PeerComparison() {}

  private static Map<String, String> ordered(String... entries) {
    var map = new LinkedHashMap<String, String>();
    for (int i = 0; i < entries.length; i += 2) map.put(entries[i], entries[i + 1]);
    return map;
  }

  static boolean isPeer(Row row) {
    return !row.isOurs() && !YARDSTICKS.contains(row.side());
  }

  /** The cost of each peer in its better configuration, as a ratio to ours. */
  static String summary(List<Result> results, Map<String, String> pages) {
    var text = new StringBuilder("| | " + String.join(" | ", PEERS.keySet()) + " | ours | our best |\n|---|"
        + "--:|".repeat(PEERS.size()) + "---|---|\n");
    QUESTIONS.forEach((what, question) -> results.stream().filter(result -> result.question().equals(question))
        .forEach(result -> {
          var ours = result.ours();
          var best = result.rows().stream().filter(row -> row.isOurs() && !row.side().equals(CALLER))
              .min(Comparator.comparingDouble(row -> row.costAgainst(ours))).orElse(ours);
          text.append("| ").append(link(what, question, pages)).append(" | ").append(PEERS.values().stream()
              .map(sides -> cost(result, List.of(sides.split(",")))).collect(Collectors.joining(" | ")));
          text.append(" | ").append(figure(ours)).append(" | ")
              .append(best.equals(ours) ? "" : figure(best)).append(" |\n");
        }));
    return text.toString();
  }

  private static String cost(Result result, List<String> sides) {
    var cost = result.rows().stream().filter(row -> sides.contains(row.side()))
        .mapToDouble(row -> row.costAgainst(result.ours())).min();
    if (cost.isEmpty()) return "";
    String text = Row.readable(cost.getAsDouble());
    return cost.getAsDouble() < LEVEL ? "**" + text + "**" : text;
  }

  private static String figure(Row row) {
    return Row.readable(row.median()) + " " + row.unit().replace("/op", "") + ", `" + row.side().replace("fibry, ", "")
        + "`";
  }

  private static String link(String text, String question, Map<String, String> pages) {
    return pages.containsKey(question) ? "[" + text + "](" + pages.get(question) + ")" : text;
  }

  /** Where a peer costs less than our default, the worst first. */
  static String losses(List<Result> results, Map<String, String> pages) {
    record Loss(Result result, Row row, double cost) {}
    var losses = new ArrayList<Loss>();
    for (var result : results) for (var row : result.rows()) {
      var ours = result.base(row);
      double cost = row.costAgainst(ours);
      if (!result.isPromise() && isPeer(row) && ours.isOurs() && cost < LEVEL) losses.add(new Loss(result, row, cost));
    }
    if (losses.isEmpty()) return "";
    return losses.stream().sorted(Comparator.comparingDouble(Loss::cost))
        .map(loss -> "| " + link(loss.result.name(), loss.result.question(), pages)
            + (loss.row.size() > 0 ? String.format(Locale.ROOT, ", %,d", loss.row.size()) : "") + " | "
            + loss.row.side() + " | " + Row.readable(loss.cost) + " |\n")
        .collect(Collectors.joining("", "| question | side | cost |\n|---|---|--:|\n", ""));
  }
}
