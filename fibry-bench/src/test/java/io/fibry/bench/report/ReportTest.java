package io.fibry.bench.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReportTest {
  private static final String FRONT = "# By hand\n\n" + block("machines") + block("peers")
      + block("losses") + block("lost") + "The end.\n";

  @TempDir
  static Path docs;
  static List<String> resultsOnNoPage;
  static String front;
  static String page;

  @BeforeAll
  static void write() throws Exception {
    Files.createDirectories(docs.resolve("charts"));
    Files.writeString(docs.resolve("charts/stale.svg"), "");
    Files.createDirectories(docs.resolve("benchmarks"));
    Files.writeString(docs.resolve("benchmarks.md"), FRONT);
    Files.writeString(docs.resolve("benchmarks/all.md"),
        block("jmh-OneToOne-message") + block("jmh-OneToOne-message-allocated")
            + block("jmh-ManyToOne-message-senders-8") + block("savina-counting") + block("blocking") + block("growth")
            + block("budgets"));
    Files.writeString(docs.resolve("benchmarks/other.md"), "no block");
    resultsOnNoPage = Report.write(fixtures(), docs);
    front = Files.readString(docs.resolve("benchmarks.md"));
    page = Files.readString(docs.resolve("benchmarks/all.md"));
  }

  private static Path fixtures() throws Exception {
    return Path.of(ReportTest.class.getResource("/report/questions.json").toURI()).getParent();
  }

  private static String block(String name) {
    return "<!-- report " + name + " -->\nof yesterday\n<!-- /report -->\n";
  }

  @Test
  void jmhRowShowsMedianOfAllIterations() {
    assertTrue(page.contains("<!-- report jmh-OneToOne-message -->\n`OneToOne` message; 2 forks of 2 iterations. JDK"));
    assertTrue(page.contains("| fibry, fiber | 25.0 | 20.0..30.0 | ns/op | 1.00 |"), page);
    assertTrue(page.contains("| pekko | 52.0 | 50.0..60.0 | ns/op | 2.08 |"), page);
  }

  @Test
  void pageNamesJmhParametersOfBenchmark() {
    assertTrue(page.contains("\n`ManyToOne` message senders 8; 1 forks of 1 iterations. JDK"), page);
  }

  @Test
  void allocatedBytesHaveTheirOwnTable() {
    assertTrue(page.contains("\n`OneToOne` message allocated; 2 forks of 2 iterations. JDK"), page);
    assertTrue(page.contains("| fibry, fiber | 48.0 |  | B/op | 1.00 |"), page);
  }

  @Test
  void pageShowsSavinaResultsAsTable() {
    assertTrue(page.contains("<!-- report savina-counting -->\n5,000,000 messages. JDK 25+1, "), page);
    assertTrue(page.contains("| pekko | 300 | 290..320 | ms | 3.00 |"), page);
  }

  @Test
  void sideWithLowerRateThanBaseHasRatioAboveOne() {
    assertTrue(page.contains("| by hand: a virtual thread for each | 250 | 240..260 | calls/s | 4.00 |  |"), page);
  }

  @Test
  void ratioComparesMeasurementWithFibryAtSameSize() {
    assertTrue(page.contains("| by hand: a parked virtual thread | 100,000 | 550 | 500..600 | ns an actor | 50.0 |"),
        page);
  }

  @Test
  void pageShowsPublishedReferenceValue() {
    assertTrue(page.contains("| 617 \\| more |"), page);
  }

  @Test
  void budgetRowShowsBoundAndAim() {
    assertTrue(page.contains(
        "| create: create an actor | 0.050 | 0.040..0.060 | x of a virtual thread | at most 0.150, aim 0.050: kept |"),
        page);
  }

  @Test
  void frontPageListsMeasurementsWherePeerIsBetter() {
    assertTrue(front.contains(
        "| [ManyToOne-message-senders-8](benchmarks/all.md) | pekko | Apache Pekko typed, in its default configuration | 0.500 |"),
        front);
    assertFalse(front.contains("| [OneToOne-message](benchmarks/all.md) | pekko |"), front);
    assertTrue(front.contains("In [2 of 6 measurements](benchmarks/losses.md), a variant without Fibry is better"),
        front);
  }

  @Test
  void frontPageSummaryNamesStrategyAndLinksToPage() {
    assertTrue(front.contains("| [A message, one sender](benchmarks/all.md) | "), front);
    assertTrue(front.contains(" | 25.0 ns, `fiber` |  |"), front);
  }

  @Test
  void summaryUsesFasterConfigurationOfPeer() {
    var result = new Result("jmh-OneToOne-message", "", "25", 2, "", "2026-11-20",
        List.of(row("fibry, fiber", 40), row("fibry, forkjoin", 20), row("fibry, caller", 10), row("pekko", 80),
            row("pekko-tuned", 60), row("kotlin", 20), row("jctools", 30)));

    var summary = PeerComparison.summary(List.of(result), java.util.Map.of());

    assertTrue(summary.endsWith("\n| A message, one sender | 1.50 | **0.500** |  |  |  |  | 40.0 ns, `fiber` | "
        + "20.0 ns, `forkjoin` |\n"), summary);
  }

  private static ResultRow row(String side, double nanos) {
    return ResultRow.of(side, "ns/op", "", nanos);
  }

  @Test
  void frontPageNamesMachineAndJdkVersion() {
    assertTrue(front.contains("Run on JDK 25+1, a machine, 2 processors, 2026-11-20."), front);
  }

  @Test
  void textOutsideReportBlocksIsPreserved() throws Exception {
    assertTrue(front.startsWith("# By hand\n\n<!-- report machines -->\n"), front);
    assertTrue(front.endsWith("<!-- /report -->\nThe end.\n"), front);
    assertFalse((front + page).contains("of yesterday"));
    assertEquals("no block", Files.readString(docs.resolve("benchmarks/other.md")));
  }

  @Test
  void reportWithoutNewResultsChangesNoPage(@TempDir Path emptyFolder) throws Exception {
    Report.write(emptyFolder, docs);

    assertEquals(front, Files.readString(docs.resolve("benchmarks.md")));
    assertEquals(page, Files.readString(docs.resolve("benchmarks/all.md")));
  }

  @Test
  void reportReturnsResultsThatNoPageShows(@TempDir Path otherDocs) throws Exception {
    assertEquals(List.of(), resultsOnNoPage);

    Files.createDirectories(otherDocs.resolve("benchmarks"));
    Files.writeString(otherDocs.resolve("benchmarks.md"), block("growth"));
    assertTrue(Report.write(fixtures(), otherDocs).contains("savina-counting"));
  }

  @Test
  void reportBlockWithUnknownResultNameIsError(@TempDir Path otherDocs) throws Exception {
    Files.createDirectories(otherDocs.resolve("benchmarks"));
    Files.writeString(otherDocs.resolve("benchmarks.md"), block("grotwh"));

    var failure = assertThrows(IllegalStateException.class, () -> Report.write(fixtures(), otherDocs));

    assertEquals("a page has a block 'grotwh', but no result has this name", failure.getMessage());
  }

  @Test
  void reportBlockWithoutResultSaysNotMeasured(@TempDir Path otherDocs) throws Exception {
    Files.createDirectories(otherDocs.resolve("benchmarks"));
    Files.writeString(otherDocs.resolve("benchmarks.md"), block("hooks"));

    Report.write(fixtures(), otherDocs);

    assertEquals("<!-- report hooks -->\nNot measured yet.\n<!-- /report -->\n",
        Files.readString(otherDocs.resolve("benchmarks.md")));
  }

  @Test
  void reportBlockWithoutEndMarkerIsError(@TempDir Path otherDocs) throws Exception {
    Files.createDirectories(otherDocs.resolve("benchmarks"));
    var document = Files.writeString(otherDocs.resolve("benchmarks.md"),
        "<!-- report growth -->\n" + block("blocking"));

    var failure = assertThrows(IllegalStateException.class, () -> Report.write(fixtures(), otherDocs));

    assertEquals("a block of " + document + " has no '<!-- /report -->'", failure.getMessage());
  }

  @Test
  void chartsReferencedByPageAreSvgFiles() throws Exception {
    for (var name : List.of("jmh-OneToOne-message", "savina-counting", "growth", "blocking")) {
      assertTrue(page.contains("](../charts/" + name + ".svg)"), name);
      var factory = DocumentBuilderFactory.newInstance();
      factory.setFeature("http://apache.org/xml/features/nonvalidating/load-external-dtd", false);
      assertEquals("svg", factory.newDocumentBuilder().parse(docs.resolve("charts/" + name + ".svg").toFile())
          .getDocumentElement().getTagName());
    }
  }

  @Test
  void chartContainsNameOfComparedSideAsText() throws Exception {
    assertTrue(Files.readString(docs.resolve("charts/blocking.svg")).contains("fibry, a fiber for each"));
  }

  @Test
  void reportCopiesRawFilesAndDeletesStaleCharts() throws Exception {
    assertTrue(Files.readString(docs.resolve("benchmarks/data/jmh-questions.json")).contains("OneToOne"));
    assertFalse(Files.readString(docs.resolve("benchmarks/data/jmh-questions.json")).contains("/a/folder"));
    assertTrue(Files.exists(docs.resolve("benchmarks/data/savina.json")));
    assertFalse(Files.exists(docs.resolve("charts/stale.svg")));
  }

  @Test
  void archivedResultKeepsDateOfItsRun(@TempDir Path copies) throws Exception {
    var runFile = Files.writeString(copies.resolve("savina.json"),
        Files.readString(fixtures().resolve("savina.json")).replace("\"jdk\"", "\"date\": \"2026-01-02\", \"jdk\""));

    ResultFiles.archive(copies, copies);

    assertEquals("2026-01-02", ResultFiles.read(copies).getFirst().date());
    assertTrue(Files.readString(runFile).contains("2026-01-02"));
  }

  @Test
  void archiveRefusesTwoResultFilesOfSameName(@TempDir Path runs, @TempDir Path copies) throws Exception {
    var first = Files.createDirectories(runs.resolve("first")).resolve("savina.json");
    var second = Files.createDirectories(runs.resolve("second")).resolve("savina.json");
    Files.copy(fixtures().resolve("savina.json"), first);
    Files.copy(fixtures().resolve("savina.json"), second);

    var failure = assertThrows(IllegalStateException.class, () -> ResultFiles.archive(runs, copies));

    assertEquals(first + " and " + second + " would both be copied to " + copies.resolve("savina.json")
        + "; delete or rename one of them", failure.getMessage());
  }

  @Test
  void undeclaredResultFailsReportWithoutDeletingCharts(@TempDir Path otherDocs) throws Exception {
    Files.createDirectories(otherDocs.resolve("benchmarks"));
    Files.createDirectories(otherDocs.resolve("charts"));
    Files.writeString(otherDocs.resolve("charts/old.svg"), "");
    new Result("fibry-alone", "", "25", 2, "", "2026-11-20", List.of(row("fibry", 1))).write(otherDocs.resolve("new"));

    var failure = assertThrows(IllegalStateException.class, () -> Report.write(otherDocs.resolve("new"), otherDocs));

    assertTrue(failure.getMessage().startsWith("nothing is declared for the result 'fibry-alone'"),
        failure.getMessage());
    assertTrue(Files.exists(otherDocs.resolve("charts/old.svg")));
  }

  @Test
  void folderWithoutResultsIsError(@TempDir Path emptyFolder) {
    assertThrows(IllegalStateException.class, () -> Report.write(emptyFolder, emptyFolder));
  }

  @Test
  void resultIsReadAsItWasWritten(@TempDir Path folder) throws Exception {
    var result = Result.here("question", "a title",
        List.of(ResultRow.of("fibry", "ms", "", 3, 1, 2), ResultRow.of("other", "ms", "7", 4).withSize(10)));

    result.write(folder);

    assertEquals(List.of(result), ResultFiles.read(folder));
  }
}
