package io.fibry.bench.report;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * What was aimed at: that each peer takes {@code least} times as much as ours.
 *
 * @param others the sides compared with ours; if empty, all peers
 * @param least below 1, they may take less
 */
record Goal(String what, String question, String ours, List<String> others, double least) {
  private static final List<String> PEKKO = List.of("pekko", "pekko-tuned");

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

  /** A table of the goals that the results answer; empty if there is none. */
  static String table(List<Result> results) {
    var lines = ALL.stream().flatMap(goal -> results.stream().filter(result -> result.question().equals(goal.question))
        .map(goal::lines)).collect(Collectors.joining());
    return lines.isEmpty() ? "" : "| what | peer | theirs / ours | goal |  |\n|---|---|--:|--:|---|\n" + lines;
  }

  private String lines(Result result) {
    var base = result.rows().stream().filter(row -> row.side().equals(ours)).findFirst();
    if (base.isEmpty()) return "";
    return result.rows().stream()
        .filter(row -> others.isEmpty() ? result.side(row).whose() == Side.Whose.OTHERS : others.contains(row.side()))
        .map(row -> line(row.costAgainst(base.get()), row.side())).collect(Collectors.joining());
  }

  private String line(double ratio, String side) {
    return String.format(Locale.ROOT, "| %s | %s | %s | %s | %s |\n", what, side, Row.readable(ratio),
        Row.readable(least), ratio >= least ? "reached" : "**missed**");
  }
}
