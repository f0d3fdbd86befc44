package io.fibry.bench.report;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/**
 * What the benchmarks were to show: that others take so many times as much as one of ours.
 *
 * @param what in words
 * @param question whose result tells
 * @param ours which side of ours
 * @param others which sides; none: all peers but the yardsticks
 * @param least how many times as much each of them is to take; below 1 they may take less
 */
record Goal(String what, String question, String ours, List<String> others, double least) {
  private static final List<String> PEKKO = List.of("pekko", "pekko-tuned");
  // a queue that waits for nobody
  private static final List<String> YARDSTICKS = List.of("jctools");
  // from here on it is worth telling that another one is better
  private static final double LEVEL = 0.95;

  static final List<Goal> ALL = List.of(
      new Goal("make an actor", "jmh-Creation-made", "fibry, sink",
          List.of("virtual-queue", "jox", "pojo-actor", "platform-queue"), 20),
      new Goal("make an actor", "jmh-Creation-made", "fibry, sink", PEKKO, 50),
      new Goal("heap of an idle actor", "idle-made", "fibry, fiber", List.of("pekko"), 10),
      new Goal("heap of an idle actor that has worked", "idle-worked", "fibry, fiber", List.of("pekko"), 10),
      new Goal("a message, one sender", "jmh-OneToOne-message", "fibry, fiber", PEKKO, 2),
      new Goal("a message, one sender", "jmh-OneToOne-message", "fibry, fiber", List.of(), 1),
      new Goal("a message, eight senders", "jmh-ManyToOne-message-senders-8", "fibry, fiber", List.of(), 1),
      new Goal("a request", "jmh-Request-fromVirtual", "fibry, fiber", PEKKO, 7),
      new Goal("a request on one carrier", "jmh-Request-onOneCarrier", "fibry, future", List.of("floor"), 1 / 1.25),
      new Goal("a switch on a ForkJoinPool", "jmh-PingPong-hit", "fibry, forkjoin", PEKKO, 2),
      new Goal("a switch on fibers", "jmh-PingPong-hit", "fibry, fiber", List.of("park"), 1 / 1.35),
      new Goal("a message where 16 may wait", "jmh-BackPressure-message-room-16", "fibry, fiber",
          List.of("jox", "kotlin"), 1),
      new Goal("a message where 1,024 may wait", "jmh-BackPressure-message-room-1024", "fibry, fiber",
          List.of("jox", "kotlin"), 1));

  /** A table of those whose questions were asked; empty if none was. */
  static String table(List<Result> results) {
    var lines = new ArrayList<String>();
    for (var goal : ALL) results.stream().filter(result -> result.question().equals(goal.question))
        .forEach(result -> lines.addAll(goal.lines(result)));
    if (lines.isEmpty()) return "";
    return "| what | beside | theirs by ours | was to be |  |\n|---|---|--:|--:|---|\n" + String.join("", lines);
  }

  private List<String> lines(Result result) {
    var base = row(result, ours);
    if (base == null) return List.of();
    return result.rows().stream().filter(row -> others.isEmpty() ? isPeer(row) : others.contains(row.side()))
        .map(row -> line(row.costAgainst(base), row.side())).toList();
  }

  private String line(double ratio, String side) {
    return String.format(Locale.ROOT, "| %s | %s | %s | %s | %s |\n", what, side, Row.readable(ratio),
        Row.readable(least), ratio >= least ? "reached" : "**missed**");
  }

  private static Row row(Result result, String side) {
    return result.rows().stream().filter(row -> row.side().equals(side)).findFirst().orElse(null);
  }

  private static boolean isPeer(Row row) {
    return !row.side().startsWith("fib") && !YARDSTICKS.contains(row.side());
  }

  /**
   * Everything in which another one takes less than our default, the worst first; empty if there is
   * nothing.
   */
  static String losses(List<Result> results) {
    record Loss(String question, String side, double cost) {}
    var losses = new ArrayList<Loss>();
    for (var result : results) {
      for (var row : result.rows()) {
        var base = result.base(row);
        if (isPeer(row) && base.side().startsWith("fib") && row.costAgainst(base) < LEVEL) losses
            .add(new Loss(result.question() + (row.size() > 0 ? String.format(Locale.ROOT, ", %,d", row.size()) : ""),
                row.side(), row.costAgainst(base)));
      }
    }
    if (losses.isEmpty()) return "";
    losses.sort(Comparator.comparingDouble(Loss::cost));
    var text = new StringBuilder("| question | side | cost |\n|---|---|--:|\n");
    for (var loss : losses) text.append("| ").append(loss.question).append(" | ").append(loss.side).append(" | ")
        .append(Row.readable(loss.cost)).append(" |\n");
    return text.toString();
  }
}
