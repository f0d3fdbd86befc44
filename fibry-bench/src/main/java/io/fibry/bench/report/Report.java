package io.fibry.bench.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import tools.jackson.databind.node.ObjectNode;

/**
 * Makes {@code docs/benchmarks.md}, a chart for each question in {@code docs/charts}, and a copy of
 * what they are made of in {@code docs/benchmarks}.
 */
public final class Report {
  private static final String HEAD =
      """
          # Benchmarks

          Made by `mvn -q -Preport` of the files in [benchmarks](benchmarks), which the runs below left. Figures of one machine say how sides compare, not how fast another machine is: each stands beside the others of its own run.

          | command | runs |
          |---|---|
          | `mvn -q -Pbudgets` | what Fibry promises, each as a ratio to a reference of the same process |
          | `mvn -q -Pbench` | the JMH questions; `-Dquestion=OneToOne` for one of them |
          | `mvn -q -Pbudgets -Dmain=io.fibry.bench.savina.Savina` | whole programs as the literature has them |
          | `mvn -q -Pbudgets -Dmain=io.fibry.bench.IdleActors` | what an idle actor takes |
          | `mvn -q -Pbudgets -Dmain=io.fibry.bench.Load` | servers under `ab` and `wrk` |
          | `mvn -q -Pscenarios` | whole programs and experiments that were published; `-Dquestion=creation,sql` for some of them |
          | `mvn -q -Preport` | this page |

          In every table the figure is the median, with the least and the most of all rounds. `cost` is how many times as much the side costs as ours, the first that begins with `fib`: above 1, ours is the better one.
          `published` is what somebody else's article reported, on other machines and in other years: for the shape.
          """;
  private static final Map<String, String> PARTS = parts();

  private Report() {}

  private static Map<String, String> parts() {
    var parts = new LinkedHashMap<String, String>(); // the beginning of a question's name
    parts.put("budgets", "What is promised");
    parts.put("jmh-", "One question each (JMH)");
    parts.put("savina-", "Programs in the manner of Savina");
    parts.put("", "Scenarios");
    return parts;
  }

  /**
   * Makes it.
   *
   * @param args the folder with the JSON files, and that of the documentation
   * @throws IOException if a file cannot be read or written
   */
  public static void main(String[] args) throws IOException {
    System.setProperty("java.awt.headless", "true");
    System.out.println("written: " + write(Path.of(args[0]), Path.of(args[1])).toAbsolutePath().normalize());
    System.exit(0); // the JDK's graphics keep threads
  }

  /** Answers the page. */
  static Path write(Path results, Path docs) throws IOException {
    var all = ResultFiles.read(results);
    if (all.isEmpty()) throw new IllegalStateException("no results in " + results + ": run one of the layers first");
    var page = new StringBuilder(HEAD);
    page.append("\nRun on ")
        .append(
            String.join("; ", all.stream().map(Report::where).filter(where -> !where.isBlank()).distinct().toList()))
        .append(".\n");
    page.append(verdict(all));
    clear(docs.resolve("charts"));
    clear(docs.resolve("benchmarks"));
    for (var part : PARTS.entrySet()) {
      var ofPart = all.stream().filter(result -> part(result).equals(part.getKey())).toList();
      if (ofPart.isEmpty()) continue;
      page.append("\n## ").append(part.getValue()).append('\n');
      for (var result : ofPart) {
        page.append('\n').append(table(result));
        if (part.getKey().equals("budgets")) continue; // ratios of many things make no chart
        var chart = Path.of("charts", result.question() + ".svg");
        Chart.write(result, docs.resolve(chart));
        page.append("\n![").append(result.question()).append("](").append(chart.toString().replace('\\', '/'))
            .append(")\n");
      }
    }
    copy(results, docs.resolve("benchmarks"));
    return Files.writeString(docs.resolve("benchmarks.md"), page.toString());
  }

  private static String verdict(List<Result> all) {
    var goals = Goal.table(all);
    var losses = Goal.losses(all.stream().filter(result -> !result.question().equals("budgets")).toList());
    return (goals.isEmpty() ? "" : "\n## What it was to show\n\n" + goals) + (losses.isEmpty() ? ""
        : "\n## Where another one is better\n\nThan Fibry on fibers, its default. [Why](benchmarks-why.md).\n\n"
            + losses);
  }

  private static String part(Result result) {
    return PARTS.keySet().stream().filter(part -> result.question().startsWith(part)).findFirst().orElseThrow();
  }

  private static String where(Result result) {
    return result.machine().isBlank() ? "" : "JDK " + result.jdk() + ", " + result.machine() + ", "
        + result.processors() + " processors, " + result.date();
  }

  /** Nothing of an earlier run stays beside this one. */
  private static void clear(Path folder) throws IOException {
    Files.createDirectories(folder);
    try (var files = Files.list(folder)) {
      for (var file : files.filter(file -> file.toString().matches(".*\\.(svg|json)")).toList()) Files.delete(file);
    }
  }

  /**
   * The raw files, so that who reads the page can look for himself; without the folder of the JDK,
   * which JMH tells.
   */
  private static void copy(Path results, Path to) throws IOException {
    for (var file : ResultFiles.files(results)) {
      if (ResultFiles.readFile(file).isEmpty()) continue;
      var json = Result.JSON.readTree(Files.readString(file));
      boolean isJmh = json.isArray() && json.get(0).has("primaryMetric");
      if (isJmh) for (var run : json) ((ObjectNode) run).remove("jvm");
      // Creation.json and creation.json are one on some systems
      Files.writeString(to.resolve((isJmh ? "jmh-" : "") + file.getFileName()),
          Result.JSON.writeValueAsString(json) + "\n");
    }
  }

  private static String table(Result result) {
    var text = new StringBuilder("### " + result.question().replaceFirst("^(jmh|savina)-", "") + "\n\n");
    if (!result.title().isBlank()) text.append(result.title()).append(result.machine().isBlank() ? ". " : ".");
    if (result.machine().isBlank())
      text.append("JDK ").append(result.jdk()).append(", ").append(result.date()).append('.');
    boolean bySize = result.rows().stream().anyMatch(row -> row.size() > 0);
    boolean published = result.rows().stream().anyMatch(row -> !row.reference().isBlank());
    boolean promise = result.question().equals("budgets");
    text.append("\n\n| side |").append(bySize ? " size |" : "").append(" median | least..most | unit |")
        .append(promise ? "" : " cost |").append(published ? promise ? " must be |" : " published |" : "").append('\n');
    text.append("|---|").append(bySize ? "--:|" : "").append("--:|--:|---|").append(promise ? "" : "--:|")
        .append(published ? "---|" : "").append('\n');
    for (var row : result.rows()) {
      text.append("| ").append(escaped(row.side())).append(" |");
      if (bySize) text.append(String.format(Locale.ROOT, " %,d |", row.size()));
      text.append(' ').append(Row.readable(row.median())).append(" | ")
          .append(row.least() == row.most() ? "" : Row.readable(row.least()) + ".." + Row.readable(row.most()))
          .append(" | ").append(escaped(row.unit())).append(" |");
      if (!promise) text.append(' ').append(Row.readable(row.costAgainst(result.base(row)))).append(" |");
      if (published) text.append(' ').append(escaped(row.reference())).append(" |");
      text.append('\n');
    }
    return text.toString();
  }

  private static String escaped(String cell) {
    return cell.replace("|", "\\|");
  }
}
