package io.fibry.bench.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * Tests that declarations, not names, decide which sides are Fibry's, and which side is the base.
 */
class ComparisonsTest {
  private static final Path PAGES = Path.of("../docs/benchmarks");
  private static final Path DATA = PAGES.resolve("data");

  private static ResultRow row(String side, double nanos) {
    return ResultRow.of(side, "ns/op", "", nanos);
  }

  private static Result result(String question, ResultRow... rows) {
    return new Result(question, "", "25", 2, "", "2026-11-20", List.of(rows));
  }

  private static Result pipeline() {
    return result("jmh-PipelineStages", row("executors", 300), row("parallelStage", 2_000), row("pipeline", 200),
        row("virtualThreadsAndQueues", 100));
  }

  private static String failureMessage(Runnable code) {
    return assertThrows(IllegalStateException.class, code::run).getMessage();
  }

  @Test
  void tableShowsRatiosToDeclaredBase() {
    var table = ResultTable.of(pipeline());

    assertTrue(table.contains("| executors | 300 |  | ns/op | 1.50 |"), table);
    assertTrue(table.contains("| pipeline | 200 |  | ns/op | 1.00 |"), table);
    assertTrue(table.contains("| virtualThreadsAndQueues | 100 |  | ns/op | 0.500 |"), table);
  }

  @Test
  void sideWithoutFibryBetterThanBaseIsListedAsLoss() {
    var losses = RatioLoss.table(List.of(pipeline()), Map.of());

    assertEquals("""
        | question | side | what it is | cost |
        |---|---|---|--:|
        | PipelineStages | virtualThreadsAndQueues | a virtual thread for each stage, bounded queues | 0.500 |
        """, losses);
  }

  @Test
  void referenceSideBetterThanBaseIsListedAsLoss() {
    var losses = RatioLoss.table(List.of(result("jmh-OneToOne-message", row("fibry, fiber", 40), row("jctools", 30))),
        Map.of());

    assertTrue(losses.contains("| OneToOne-message | jctools | "), losses);
  }

  @Test
  void fibrySideBetterThanBaseIsNotListedAsLoss() {
    var results = List.of(result("jmh-PoolTasks-work-1000", row("byKey", 600), row("fibers", 800),
        row("executorService", 900)));

    assertEquals("", RatioLoss.table(results, Map.of()));
    assertTrue(RatioLoss.count(results).startsWith("In [0 of 1 measurements]("),
        RatioLoss.count(results));
  }

  @Test
  void resultWithoutDeclaredComparisonIsError() {
    var failure = failureMessage(() -> result("jmh-Unheard", row("fibry, fiber", 1)).check());

    assertEquals("nothing is declared for the result 'jmh-Unheard'; say in Comparisons what it compares, which sides "
        + "are ours, and which of them is the base", failure);
  }

  @Test
  void undeclaredSideInResultIsError() {
    var failure = failureMessage(
        () -> result("jmh-PipelineStages", row("pipeline", 1), row("fibryToo", 1)).checkSides());

    assertEquals("'fibryToo' is no declared side of jmh-PipelineStages; declare it in Comparisons",
        failure);
  }

  @Test
  void sideWithoutMeasuredBaseIsError() {
    var failure = failureMessage(() -> result("jmh-PipelineStages", row("executors", 1)).check());

    assertEquals("of the bases [pipeline] of jmh-PipelineStages, 0 have measurements in ns/op, but 'executors' needs "
        + "exactly one such base; measure the base too, or change Comparisons", failure);
  }

  @Test
  void otherLibraryCannotBeBaseOfComparison() {
    var sides = List.of(Side.other("fibryish", "named like ours"));

    assertThrows(IllegalArgumentException.class, () -> Comparison.of("question", "title", sides, "fibryish"));
  }

  @Test
  void titleOfComparisonDescribesBenchmarkParameters() {
    String question = "jmh-ManyToOne-message-senders-8-allocated";

    assertEquals("A message, from 8 senders to one actor: memory allocated", Comparisons.of(question).title(question));
  }

  @Test
  void everyDeclaredSideHasCommittedMeasurement() throws Exception {
    var unmeasuredSides = new HashSet<Side>();
    var results = ResultFiles.read(DATA).stream().filter(result -> !result.isPromise()).toList();

    for (var result : results) unmeasuredSides.addAll(result.comparison().sides());
    for (var result : results) result.rows().forEach(row -> unmeasuredSides.remove(result.side(row)));

    assertEquals(Set.of(), unmeasuredSides);
  }

  @Test
  void eachDeclaredComparisonHasResultOrReportBlock() throws Exception {
    var questions = new ArrayList<String>();
    try (var pages = Files.newDirectoryStream(PAGES, "*.md")) {
      for (var page : pages) questions.addAll(Page.blockNames(page));
    }
    questions.addAll(Page.blockNames(PAGES.resolveSibling("benchmarks.md")));
    ResultFiles.read(DATA).forEach(result -> questions.add(result.question()));

    assertEquals(List.of(),
        Comparisons.all().stream().filter(comparison -> questions.stream().noneMatch(comparison::covers)).toList());
  }
}
