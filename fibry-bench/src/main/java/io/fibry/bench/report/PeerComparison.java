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
  /** Questions of JMH, and their counterparts in the comparison of the two schedulers. */
  private static final Map<String, String> ON_CARRIERS = Map.of(
      "jmh-OneToOne-message", "carriers-senders-1",
      "jmh-ManyToOne-message-senders-8", "carriers-senders-8",
      "jmh-Activation-message", "carriers-idle",
      "jmh-BackPressure-message-capacity-1024", "carriers-bounded-1024",
      "jmh-PingPong-hit", "carriers-hand-over",
      "jmh-Request-fromVirtual", "carriers-ask-thread");
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
    boolean hasCarriers = !CarrierPage.resultsOf(results).isEmpty();
    var text = new StringBuilder("| | " + String.join(" | ", PEERS.keySet()) + " | ours | our best |"
        + (hasCarriers ? " on our carriers |" : "") + "\n|---|" + "--:|".repeat(PEERS.size()) + "---|---|"
        + (hasCarriers ? "--:|" : "") + "\n");
    QUESTIONS.forEach((label, question) -> results.stream().filter(result -> result.question().equals(question))
        .forEach(result -> {
          var base = base(result);
          var bestRow = result.rows().stream().filter(row -> result.side(row).isOurs() && !row.side().equals(CALLER))
              .min(Comparator.comparingDouble(row -> row.costAgainst(base))).orElse(base);
          text.append("| ").append(link(label, question, pages)).append(" | ").append(PEERS.values().stream()
              .map(sides -> cost(result, List.of(sides.split(",")))).collect(Collectors.joining(" | ")));
          text.append(" | ").append(value(base)).append(" | ")
              .append(bestRow.equals(base) ? "" : value(bestRow)).append(" |")
              .append(hasCarriers ? " " + costOnCarriers(question, results) + " |" : "").append("\n");
        }));
    return text.toString();
  }

  /** Returns our cost on carriers, as a ratio to our cost on the JDK's scheduler. */
  private static String costOnCarriers(String question, List<Result> results) {
    var ratio = CarrierPage.ratio(ON_CARRIERS.getOrDefault(question, ""), results);
    return ratio.isEmpty() ? "" : bold(1 / ratio.getAsDouble());
  }

  private static String bold(double cost) {
    return cost < RatioLoss.REPORTED_BELOW ? "**" + ResultRow.readable(cost) + "**" : ResultRow.readable(cost);
  }

  private static ResultRow base(Result result) {
    return result.base(result.rows().getFirst());
  }

  private static String cost(Result result, List<String> sides) {
    var cost = result.rows().stream().filter(row -> sides.contains(row.side()))
        .mapToDouble(row -> row.costAgainst(base(result))).min();
    return cost.isEmpty() ? "" : bold(cost.getAsDouble());
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
