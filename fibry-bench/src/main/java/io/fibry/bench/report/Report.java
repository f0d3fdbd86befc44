package io.fibry.bench.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Copies new results to {@code docs/benchmarks/data}, draws their charts, and fills in the tables
 * of {@code docs/benchmarks.md} and {@code docs/benchmarks}.
 */
public final class Report {
  private Report() {}

  /** Takes two arguments: the folder of new results, and the folder of the documentation. */
  public static void main(String[] args) throws IOException {
    var docs = Path.of(args[1]).toAbsolutePath().normalize();
    var unshownResults = write(Path.of(args[0]), docs);
    System.out.println("written: " + docs.resolve("benchmarks.md"));
    if (!unshownResults.isEmpty())
      System.out.println("no page shows these results: " + unshownResults + "; for each, add the lines '" + Page.BEGIN
          + "NAME -->' and '" + Page.END + "' to a page in " + docs.resolve("benchmarks"));
  }

  /** Writes data, charts and pages. Returns the names of the results that no page shows. */
  static List<String> write(Path newResults, Path docs) throws IOException {
    var data = docs.resolve("benchmarks/data");
    ResultFiles.archive(newResults, data);
    var results = ResultFiles.read(data);
    if (results.isEmpty())
      throw new IllegalStateException("no results in " + newResults + " nor in " + data + ": run a benchmark first");
    results.forEach(Result::check);
    draw(results, docs.resolve("charts"));
    CarrierPage.write(results, docs);
    var pages = pages(docs);
    var pagesByBlock = new HashMap<String, String>(); // name of a block -> path of its page in docs
    CarrierPage.resultsOf(results).forEach(result -> pagesByBlock.put(result.question(), CarrierPage.PATH));
    for (var page : pages)
      for (var name : Page.blockNames(page))
        pagesByBlock.put(name, docs.relativize(page).toString().replace('\\', '/'));
    for (var page : pages)
      Page.fill(page, name -> block(name, results, pagesByBlock), page.getParent().equals(docs) ? "" : "../");
    return results.stream().map(Result::question).filter(question -> !pagesByBlock.containsKey(question)).toList();
  }

  private static void draw(List<Result> results, Path charts) throws IOException {
    Files.createDirectories(charts);
    try (var oldCharts = Files.newDirectoryStream(charts, "*.svg")) {
      for (var oldChart : oldCharts) Files.delete(oldChart);
    }
    for (var result : results) if (!result.isPromise() && !CarrierPage.shows(result))
      Chart.write(result, charts.resolve(result.question() + ".svg"));
  }

  private static List<Path> pages(Path docs) throws IOException {
    var pages = new ArrayList<>(List.of(docs.resolve("benchmarks.md")));
    try (var files = Files.newDirectoryStream(docs.resolve("benchmarks"), "*.md")) {
      files.forEach(pages::add);
    }
    return pages;
  }

  private static String block(String name, List<Result> results, Map<String, String> pagesByBlock) {
    return switch (name) {
      case "peers" -> PeerComparison.summary(results, pagesByBlock);
      case CarrierPage.BLOCK -> CarrierPage.summary(results);
      case "losses" -> RatioLoss.table(results, pagesByBlock);
      case "lost" -> RatioLoss.count(results);
      case "machines" -> "Run on " + environments(results) + ".\n";
      default -> results.stream().filter(result -> result.question().equals(name)).findFirst().map(ResultTable::of)
          .orElseGet(() -> placeholderFor(name));
    };
  }

  /** Returns each machine with its JDK, and the first and the last date of its results. */
  private static String environments(List<Result> results) {
    var dates = new LinkedHashMap<String, TreeSet<String>>(); // by environment
    for (var result : results) if (!result.machine().isBlank())
      dates.computeIfAbsent(result.environment(), key -> new TreeSet<>()).add(result.date());
    return dates.entrySet().stream().map(entry -> entry.getKey() + ", " + period(entry.getValue()))
        .collect(Collectors.joining("; "));
  }

  private static String period(TreeSet<String> dates) {
    return dates.size() == 1 ? dates.first() : dates.first() + " to " + dates.last();
  }

  /**
   * Returns the content of a block whose question was not measured yet. Throws if the question is
   * not declared.
   */
  private static String placeholderFor(String name) {
    if (Comparisons.isDeclared(name)) return "Not measured yet.\n";
    throw new IllegalStateException("a page has a block '" + name + "', but no result has this name");
  }
}
