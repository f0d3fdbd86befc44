package io.fibry.bench.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CarrierPageTest {
  @TempDir
  static Path newResults;
  @TempDir
  static Path docs;
  static List<String> resultsOnNoPage;
  static String page;
  static String front;

  @BeforeAll
  static void write() throws Exception {
    var results = List.of(
        result("ask-actor", "`ask` from an actor", row(CarrierPage.JDK, 1_000, 0), row(CarrierPage.CARRIERS, 500, 0),
            row("kotlin", 600, 0)),
        result("compute-4", "one sender wakes 4 actors", row(CarrierPage.JDK, 900, 1),
            row(CarrierPage.CARRIERS, 900, 1),
            row(CarrierPage.JDK, 600, 5), row(CarrierPage.CARRIERS, 1_000, 5)),
        result("unparks", "two virtual threads", row(CarrierPage.JDK, 1_000, 0), row(CarrierPage.CARRIERS, 250, 0)),
        result("ask-hand", "by hand", row(CarrierPage.JDK, 1_000, 0), row(CarrierPage.CARRIERS, 300, 0)),
        result("ask-hand-drain", "by hand", row(CarrierPage.JDK, 1_000, 0), row(CarrierPage.CARRIERS, 350, 0)),
        result("idle", "message to an idle actor", row(CarrierPage.JDK, 250, 0), row(CarrierPage.CARRIERS, 100, 0)));
    Files.writeString(newResults.resolve("carriers.json"), Result.JSON.writeValueAsString(results));
    Files.createDirectories(docs.resolve("benchmarks"));
    Files.writeString(docs.resolve("benchmarks.md"), "<!-- report carriers -->\n<!-- /report -->\n");
    resultsOnNoPage = Report.write(newResults, docs);
    page = Files.readString(docs.resolve("benchmarks/carriers.md"));
    front = Files.readString(docs.resolve("benchmarks.md"));
  }

  private static Result result(String name, String title, ResultRow... rows) {
    return new Result("carriers-" + name, title, "25", 2, "a machine", "2026-11-29", List.of(rows));
  }

  private static ResultRow row(String side, double nanos, long size) {
    return ResultRow.of(side, "ns", "", nanos - 10, nanos, nanos + 10).withSize(size);
  }

  @Test
  void pageComparesBothSchedulersAndPeer() {
    assertTrue(page.contains("| `ask` from an actor | 1,000 ns (990..1,010) | 500 ns (490..510) | 2.00 "
        + "| Kotlin: a channel and a coroutine | 600 ns (590..610) | 1.20 |\n"), page);
    assertTrue(page.contains("| one sender wakes 4 actors for 5 µs | 600 ns (590..610) | 1,000 ns (990..1,010) "
        + "| **0.600** |  |  |  |\n"), page);
  }

  @Test
  void pageExplainsOnlyRowsWhereCarriersAreSlower() {
    var reasons = page.substring(page.indexOf("## Where carriers are slower"));

    assertTrue(reasons.contains("* **One sender wakes 4 actors for 5 µs**: 0.600. A carrier wakes another"), page);
    assertEquals(1, reasons.lines().filter(line -> line.startsWith("* ")).count(), page);
  }

  @Test
  void pageComparesAskWithItsParts() {
    assertTrue(
        page.contains("with a mailbox takes 1.20. If a drain answers that ends each time, as that of an actor, it "
            + "takes 1.40, and an `ask` takes 2.00."),
        page);
  }

  @Test
  void frontPageShowsBothSchedulersSideBySide() {
    assertTrue(front.contains("| `ask` from an actor | 1,000 ns | 500 ns | 2.00 |\n"), front);
    assertTrue(front.contains("[All 7 rows](benchmarks/carriers.md)"), front);
    assertFalse(front.contains("for 1 µs"), front);
  }

  @Test
  void resultsOfCarriersAreShownWithoutCharts() throws Exception {
    assertEquals(List.of(), resultsOnNoPage);
    try (var charts = Files.list(docs.resolve("charts"))) {
      assertEquals(List.of(), charts.toList());
    }
  }

  @Test
  void frontPageHasNoTableWithoutResults() {
    assertEquals("", CarrierPage.summary(List.of()));
  }

  @Test
  void peerTableHasColumnOfCarriers() {
    var results = new ArrayList<Result>();
    results.add(new Result("jmh-Activation-message", "", "25", 2, "", "2026-11-29",
        List.of(ResultRow.of("fibry, fiber", "ns/op", "", 250))));
    results.add(result("idle", "idle", row(CarrierPage.JDK, 250, 0), row(CarrierPage.CARRIERS, 100, 0)));

    var summary = PeerComparison.summary(results, java.util.Map.of());

    assertTrue(
        summary.startsWith("| | Pekko | Kotlin | Jox | POJO-actor | thread and queue | executor | ours | our best "
            + "| on our carriers |\n"),
        summary);
    assertTrue(summary.endsWith(" | 250 ns, `fiber` |  | **0.400** |\n"), summary);
  }

  @Test
  void rowWithoutKnownReasonForLossIsError() {
    var unknown =
        List.of(result("unknown", "unknown", row(CarrierPage.JDK, 100, 0), row(CarrierPage.CARRIERS, 200, 0)));

    var failure = assertThrows(IllegalStateException.class, () -> CarrierPage.write(unknown, docs));

    assertEquals("carriers are slower in 'unknown'; say in CarrierPage why", failure.getMessage());
  }
}
