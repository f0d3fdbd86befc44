package io.fibry.bench.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The page that compares the JDK's scheduler of virtual threads with the carriers of
 * fibry-carriers. All of it is generated, also the reasons of the rows where carriers are slower.
 */
final class CarrierPage {
  static final String PATH = "benchmarks/carriers.md";
  static final String BLOCK = "carriers"; // name of the block on the front page
  static final String JDK = "fibry, JDK's scheduler";
  static final String CARRIERS = "fibry, carriers";
  private static final String PREFIX = "carriers-"; // of the results' names
  private static final String UNPARKS = "unparks";
  private static final String ASK = "ask-actor";
  private static final String ASK_HAND = "ask-hand";
  private static final String ASK_HAND_DRAIN = "ask-hand-drain";

  private static final List<String> FRONT_PAGE =
      List.of(ASK, "ask-fiber", "ask-thread", "idle", "senders-8", "hand-over",
          "bounded-1024", "queues", "compute-4", "compute-1000");

  private static final String ONE_CARRIER =
      "A carrier wakes another one only for a backlog of 15 µs, so one carrier may do all the work.";
  private static final String QUEUED_HAND_OVER = "On both schedulers a thread runs the woken actor next. On carriers, "
      + "the actor passes through a queue that other carriers may steal from.";
  private static final String LENT = "The JDK's scheduler runs asker and actor on both sides. With carriers, a list "
      + "has the actors that wait there, in case the scheduler is busy.";
  private static final String OTHER_SCHEDULER = "No carrier runs the asker. If its spin ends before the "
      + "answer comes, request and answer must each wake a thread of the other scheduler.";
  /** Why carriers may be slower, by the beginning of the name of a question. */
  private static final Map<String, String> REASONS = Map.ofEntries(
      Map.entry("ask-thread", LENT), Map.entry("ask-fibers", ONE_CARRIER), Map.entry("ask-platform", OTHER_SCHEDULER),
      Map.entry("ask-", "Other programs on the machine may hold up the one carrier that asker and actor share."),
      Map.entry("idle", ONE_CARRIER), // also for "idle-hand"
      Map.entry("wake-64", ONE_CARRIER),
      Map.entry("hand-over", QUEUED_HAND_OVER),
      Map.entry("ring", QUEUED_HAND_OVER),
      Map.entry("senders", "Senders and actor may share one carrier, until their backlog is worth another one."),
      Map.entry("bounded", "Sender and actor may share one carrier. Then each full mailbox costs a switch of threads."),
      Map.entry("pool", "The workers may share one carrier with the sender, until their backlog is worth another "
          + "one."),
      Map.entry("pipeline", "The stages may share one carrier with the sender, until their backlog is worth another "
          + "one."),
      Map.entry("queues", "A queue of the JDK spins for 5 µs before its thread parks, unless the thread's carrier has "
          + "other work. Our carriers always say that they have, because spinning would hold up the other thread if "
          + "it is on the same carrier. So each item costs two switches of threads."),
      Map.entry("compute", "A carrier wakes another one only for a backlog of 15 µs, because waking costs as much. So "
          + "a few short computations run one after the other, and a wrong estimate is corrected after 50 µs."),
      Map.entry("sleepers", "Each blocked handler keeps a virtual thread, and its timer is in the heap of a carrier."),
      Map.entry("blocking", "Each blocked handler keeps a virtual thread, and its timer is in the heap of a carrier."));

  private CarrierPage() {}

  static boolean shows(Result result) {
    return result.question().startsWith(PREFIX);
  }

  static List<Result> resultsOf(List<Result> results) {
    return results.stream().filter(CarrierPage::shows).toList();
  }

  /** Writes the page, if there are results for it. */
  static void write(List<Result> results, Path docs) throws IOException {
    var shown = resultsOf(results);
    if (!shown.isEmpty()) Files.writeString(docs.resolve(PATH), text(shown));
  }

  private static String text(List<Result> results) {
    var rows = rows(results).toList();
    var losses = rows.stream().filter(row -> row.ratio() < RatioLoss.REPORTED_BELOW).toList();
    var environment = results.getFirst();
    return """
        # Two schedulers

        [`CarrierComparison`](../../fibry-bench/src/main/java/io/fibry/bench/CarrierComparison.java) measures Fibry \
        on the JDK's scheduler of virtual threads, and on the carriers of \
        [fibry-carriers](../../fibry-carriers/README.md). It measures a peer, too. The command is \
        `mvn -q -Pbudgets -Dmain=io.fibry.bench.CarrierComparison`, and `mvn -q -Preport` writes this page.

        The sides take turns, each in a process of its own. Each cell has the median of the processes, and their \
        range. The ratios divide by the time on carriers. Above 1 carriers are faster, below 0.95 they are slower \
        (**bold**). Askers and senders are virtual threads that a handler has started, unless the row says \
        otherwise. For actors that compute, the cell is the time until all are done, divided by the number of actors.

        Run on %s, %s.

        | work | JDK's scheduler | carriers | ratio | peer | its time | ratio |
        |---|--:|--:|--:|---|--:|--:|
        %s
        ## Where carriers are slower

        %s
        %s"""
        .formatted(environment.environment(), environment.date(),
            rows.stream().map(Row::text).collect(Collectors.joining()),
            losses.isEmpty() ? "In no row by more than 5 %." : reasons(losses), parts(rows));
  }

  /** Returns a section that compares an {@code ask} with its parts; empty if a row is missing. */
  private static String parts(List<Row> rows) {
    var nanos =
        rows.stream().collect(Collectors.toMap(Row::name, row -> row.carriers.median(), (first, next) -> first));
    if (!nanos.keySet().containsAll(List.of(UNPARKS, ASK, ASK_HAND, ASK_HAND_DRAIN))) return "";
    UnaryOperator<String> ratio = name -> ResultRow.readable(nanos.get(name) / nanos.get(UNPARKS));
    return """

        ## The parts of an `ask`

        Two virtual threads on carriers that unpark each other are the unit. A request by hand to a virtual thread \
        with a mailbox takes %s. If a drain answers that ends each time, as that of an actor, it takes %s, and an \
        `ask` takes %s. The difference between the last two is for limits, cycles of waits, kills and counts. The aim \
        for an `ask` is 1.2.
        """.formatted(ratio.apply(ASK_HAND), ratio.apply(ASK_HAND_DRAIN), ratio.apply(ASK));
  }

  private static String reasons(List<Row> losses) {
    return losses.stream().map(row -> "* **" + upperFirst(row.title()) + "**: " + ResultRow.readable(row.ratio()) + ". "
        + reason(row.result())).collect(Collectors.joining("\n"));
  }

  private static String reason(Result result) {
    String name = result.question().substring(PREFIX.length());
    return REASONS.entrySet().stream().filter(entry -> name.startsWith(entry.getKey()))
        .max(Map.Entry.comparingByKey()).map(Map.Entry::getValue)
        .orElseThrow(() -> new IllegalStateException(
            "carriers are slower in '" + name + "'; say in CarrierPage why"));
  }

  private static String upperFirst(String text) {
    int first = text.startsWith("`") ? 1 : 0;
    return first == 1 ? text : Character.toUpperCase(text.charAt(0)) + text.substring(1);
  }

  /** Returns the table for the front page; an empty text if there are no results. */
  static String summary(List<Result> results) {
    var rows = rows(results).filter(row -> FRONT_PAGE.contains(row.result.question().substring(PREFIX.length())))
        .filter(row -> row.carriers.size() == 0 || row.carriers.size() == 5).toList();
    if (rows.isEmpty()) return "";
    return "The module [fibry-carriers](../fibry-carriers/README.md) replaces the JDK's scheduler. This table shows "
        + "both; above a ratio of 1, carriers are faster. In the table above, the last column is our cost on carriers "
        + "divided by our cost on the JDK's scheduler. [All " + rows(results).count() + " rows](" + PATH
        + ") are compared with peers, too.\n\n"
        + "| work | JDK's scheduler | carriers | ratio |\n|---|--:|--:|--:|\n"
        + rows.stream().map(Row::shortText).collect(Collectors.joining());
  }

  /** Returns our time on the JDK's scheduler divided by our time on carriers. */
  static OptionalDouble ratio(String question, List<Result> results) {
    return rows(results).filter(row -> row.result.question().equals(question)).mapToDouble(Row::ratio).findFirst();
  }

  private static Stream<Row> rows(List<Result> results) {
    return resultsOf(results).stream().flatMap(result -> result.rows().stream()
        .filter(row -> row.side().equals(CARRIERS)).map(row -> new Row(result, row)));
  }

  /** A row of the table: the measurements of a question, or of one of its sizes. */
  private record Row(Result result, ResultRow carriers) {
    private ResultRow jdk() {
      return sides().filter(row -> row.side().equals(JDK)).findFirst()
          .orElseThrow(() -> new IllegalStateException(result.question() + " was not measured on the JDK's scheduler"));
    }

    private Stream<ResultRow> sides() {
      return result.rows().stream().filter(row -> row.size() == carriers.size());
    }

    private double ratio() {
      return jdk().costAgainst(carriers);
    }

    private String name() {
      return result.question().substring(PREFIX.length());
    }

    private String title() {
      return result.title() + (carriers.size() == 0 ? "" : String.format(Locale.ROOT, " for %d µs", carriers.size()));
    }

    private String text() {
      var peer = sides().filter(row -> !result.side(row).isOurs()).findFirst();
      return "| " + title() + " | " + cell(jdk()) + " | " + cell(carriers) + " | " + bold(ratio()) + " | "
          + peer
              .map(row -> result.side(row).description() + " | " + cell(row) + " | " + bold(row.costAgainst(carriers)))
              .orElse(" |  | ")
          + " |\n";
    }

    private String shortText() {
      return "| " + title() + " | " + value(jdk()) + " | " + value(carriers) + " | " + bold(ratio()) + " |\n";
    }

    private static String cell(ResultRow row) {
      return value(row) + " (" + ResultRow.readable(row.least()) + ".." + ResultRow.readable(row.most()) + ")";
    }

    private static String value(ResultRow row) {
      return ResultRow.readable(row.median()) + " " + row.unit();
    }

    private static String bold(double ratio) {
      String text = ResultRow.readable(ratio);
      return ratio < RatioLoss.REPORTED_BELOW ? "**" + text + "**" : text;
    }
  }
}
