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
  @TempDir
  static Path docs;
  static String page;

  @BeforeAll
  static void write() throws Exception {
    Files.createDirectories(docs.resolve("charts"));
    Files.writeString(docs.resolve("charts/of-yore.svg"), "");
    page = Files.readString(Report.write(fixtures(), docs));
  }

  private static Path fixtures() throws Exception {
    return Path.of(ReportTest.class.getResource("/report/questions.json").toURI()).getParent();
  }

  @Test
  void jmhRowIsTheMedianOfAllIterationsBesideOurs() {
    assertTrue(page.contains("### OneToOne-message\n"), page);
    assertTrue(page.contains("| fibry, fiber | 26.0 | 20.0..30.0 | ns/op | 1.00 |"), page);
    assertTrue(page.contains("| peer | 52.0 | 50.0..60.0 | ns/op | 2.00 |"), page);
  }

  @Test
  void otherParametersMakeAnotherQuestion() {
    assertTrue(page.contains("### ManyToOne-message-senders-8\n"), page);
  }

  @Test
  void allocationIsAQuestionOfItsOwn() {
    assertTrue(page.contains("### OneToOne-message-allocated\n"), page);
    assertTrue(page.contains("| fibry, fiber | 48.0 |  | B/op | 1.00 |"), page);
  }

  @Test
  void savinaProgramIsATable() {
    assertTrue(page.contains("### counting\n"), page);
    assertTrue(page.contains("| peer | 300 | 290..320 | ms | 3.00 |"), page);
  }

  @Test
  void rateCostsMoreWhereItIsLess() {
    assertTrue(page.contains("| by hand | 250 | 240..260 | calls/s | 4.00 |  |"), page);
  }

  @Test
  void figureIsComparedWithOursOfTheSameSize() {
    assertTrue(page.contains("| by hand | 100,000 | 550 | 500..600 | ns an actor | 50.0 |"), page);
  }

  @Test
  void publishedFigureStandsBesideOurs() {
    assertTrue(page.contains("| 617 \\| more |"), page);
  }

  @Test
  void budgetSaysWhatMustBe() {
    assertTrue(page.contains(
        "| create: create an actor | 0.050 | 0.040..0.060 | x of a virtual thread | at most 0.150, aim 0.050: kept |"),
        page);
  }

  @Test
  void goalSaysWhetherItWasReached() {
    assertTrue(page.contains("| a message, one sender | peer | 2.00 | 1.00 | reached |"), page);
    assertTrue(page.contains("| a message, eight senders | peer | 0.500 | 1.00 | **missed** |"), page);
  }

  @Test
  void whatAnotherOneDoesBetterIsTold() {
    assertTrue(page.contains("| jmh-ManyToOne-message-senders-8 | peer | 0.500 |"), page);
    assertFalse(page.contains("| jmh-OneToOne-message | peer |"), page);
  }

  @Test
  void machineAndVersionAreNamed() {
    assertTrue(page.contains("Run on JDK 25+1, a machine, 2 processors, 2026-11-20."), page);
  }

  @Test
  void everyChartIsThereAndIsXml() throws Exception {
    for (var name : List.of("jmh-OneToOne-message", "savina-counting", "growth", "blocking")) {
      assertTrue(page.contains("](charts/" + name + ".svg)"), name);
      var factory = DocumentBuilderFactory.newInstance();
      factory.setFeature("http://apache.org/xml/features/nonvalidating/load-external-dtd", false);
      assertEquals("svg", factory.newDocumentBuilder().parse(docs.resolve("charts/" + name + ".svg").toFile())
          .getDocumentElement().getTagName());
    }
  }

  @Test
  void chartKeepsItsWordsAsText() throws Exception {
    assertTrue(Files.readString(docs.resolve("charts/blocking.svg")).contains("fibry, fibers"));
  }

  @Test
  void rawFilesAreCopiedAndOldChartsGone() throws Exception {
    assertTrue(Files.readString(docs.resolve("benchmarks/jmh-questions.json")).contains("OneToOne"));
    assertFalse(Files.readString(docs.resolve("benchmarks/jmh-questions.json")).contains("/a/folder"));
    assertTrue(Files.exists(docs.resolve("benchmarks/savina.json")));
    assertFalse(Files.exists(docs.resolve("charts/of-yore.svg")));
  }

  @Test
  void noResultsAreAnError(@TempDir Path empty) {
    assertThrows(IllegalStateException.class, () -> Report.write(empty, docs));
  }

  @Test
  void resultSurvivesItsFile(@TempDir Path folder) throws Exception {
    var result = Result.here("question", "a title",
        List.of(Row.of("fibry", "ms", "", 3, 1, 2), Row.of("other", "ms", "7", 4).withSize(10)));

    result.write(folder);

    assertEquals(List.of(result), ResultFiles.read(folder));
  }
}
