package io.fibry.bench.report;

import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** The table that compares actors of Fibry with actors of peers. */
final class PeerComparison {
  // handles messages on the sender's thread, so it promises less than the other sides
  private static final String CALLER = "fibry, caller";

  private static final Map<String, String> QUESTIONS = ordered(
      "Make an actor", "jmh-Creation-made",
      "Heap of an idle actor", "idle-made",
      "A message, one sender", "jmh-OneToOne-message",
      "A message, eight senders", "jmh-ManyToOne-message-senders-8",
      "A message to an idle actor", "jmh-Activation-message",
      "A message, with space for 1,024", "jmh-BackPressure-message-capacity-1024",
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

  /** Returns the table: the cost of each peer in its best configuration, as a ratio to Fibry. */
  static String summary(List<Result> results, Map<String, String> pages) {
    var text = new StringBuilder("| | " + String.join(" | ", PEERS.keySet()) + " | ours | our best |\n|---|"
        + "--:|".repeat(PEERS.size()) + "---|---|\n");
    QUESTIONS.forEach((label, question) -> results.stream().filter(result -> result.question().equals(question))
        .forEach(result -> {
          var base = base(result);
          var bestRow = result.rows().stream().filter(row -> result.side(row).isOurs() && !row.side().equals(CALLER))
              .min(Comparator.comparingDouble(row -> row.costAgainst(base))).orElse(base);
          text.append("| ").append(link(label, question, pages)).append(" | ").append(PEERS.values().stream()
              .map(sides -> cost(result, List.of(sides.split(",")))).collect(Collectors.joining(" | ")));
          text.append(" | ").append(value(base)).append(" | ")
              .append(bestRow.equals(base) ? "" : value(bestRow)).append(" |\n");
        }));
    return text.toString();
  }

  private static ResultRow base(Result result) {
    return result.base(result.rows().getFirst());
  }

  private static String cost(Result result, List<String> sides) {
    var cost = result.rows().stream().filter(row -> sides.contains(row.side()))
        .mapToDouble(row -> row.costAgainst(base(result))).min();
    if (cost.isEmpty()) return "";
    String text = ResultRow.readable(cost.getAsDouble());
    return cost.getAsDouble() < RatioLoss.REPORTED_BELOW ? "**" + text + "**" : text;
  }

  private static String value(ResultRow row) {
    return ResultRow.readable(row.median()) + " " + row.unit().replace("/op", "") + ", `"
        + row.side().replace("fibry, ", "")
        + "`";
  }

  static String link(String text, String question, Map<String, String> pages) {
    return pages.containsKey(question) ? "[" + text + "](" + pages.get(question) + ")" : text;
  }
}
