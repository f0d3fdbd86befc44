package io.fibry.bench.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Copies new results to {@code docs/benchmarks/data}, draws their charts, and fills in the tables
 * of {@code docs/benchmarks.md} and {@code docs/benchmarks}.
 */
public final class Report {
  private Report() {}

  /** The arguments are the folder of new results, and that of the documentation. */
  public static void main(String[] args) throws IOException {
    var docs = Path.of(args[1]).toAbsolutePath().normalize();
    var hidden = write(Path.of(args[0]), docs);
    System.out.println("written: " + docs.resolve("benchmarks.md"));
    if (!hidden.isEmpty()) System.out.println("on no page: " + hidden + "; give each a block '" + Page.BEGIN + "name"
        + " -->' with '" + Page.END + "' in a page of " + docs.resolve("benchmarks"));
  }

  /** Returns the names of the results that no page shows. */
  static List<String> write(Path newResults, Path docs) throws IOException {
    var data = docs.resolve("benchmarks/data");
    ResultFiles.archive(newResults, data);
    var all = ResultFiles.read(data);
    if (all.isEmpty())
      throw new IllegalStateException("no results in " + newResults + " nor in " + data + ": run a benchmark first");
    all.forEach(Result::check);
    draw(all, docs.resolve("charts"));
    var pages = pages(docs);
    var shown = new HashMap<String, String>(); // the page of each block, seen from docs
    for (var page : pages)
      for (var name : Page.blocks(page)) shown.put(name, docs.relativize(page).toString().replace('\\', '/'));
    for (var page : pages) Page.fill(page, name -> block(name, all, shown), page.getParent().equals(docs) ? "" : "../");
    return all.stream().map(Result::question).filter(question -> !shown.containsKey(question)).toList();
  }

  private static void draw(List<Result> results, Path charts) throws IOException {
    Files.createDirectories(charts);
    try (var old = Files.newDirectoryStream(charts, "*.svg")) {
      for (var chart : old) Files.delete(chart);
    }
    for (var result : results) if (!result.isPromise()) Chart.write(result, charts.resolve(result.question() + ".svg"));
  }

  private static List<Path> pages(Path docs) throws IOException {
    var pages = new ArrayList<>(List.of(docs.resolve("benchmarks.md")));
    try (var files = Files.newDirectoryStream(docs.resolve("benchmarks"), "*.md")) {
      files.forEach(pages::add);
    }
    return pages;
  }

  private static String block(String name, List<Result> all, Map<String, String> shown) {
    return switch (name) {
      case "peers" -> PeerComparison.summary(all, shown);
      case "losses" -> RatioLoss.table(all, shown);
      case "lost" -> RatioLoss.count(all);
      case "machines" -> "Run on " + all.stream().filter(result -> !result.machine().isBlank())
          .map(Result::environment).distinct().collect(Collectors.joining("; ")) + ".\n";
      default -> all.stream().filter(result -> result.question().equals(name)).findFirst().map(ResultTable::of)
          .orElseGet(() -> withoutResult(name));
    };
  }

  /** A question can be declared before it is asked. */
  private static String withoutResult(String name) {
    if (Comparisons.isDeclared(name)) return "Not measured yet.\n";
    throw new IllegalStateException("a page asks for '" + name + "', of which there is no result");
  }
}
