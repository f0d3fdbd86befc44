package io.fibry.bench.durable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.bench.report.ResultFiles;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.util.RestoreSystemProperties;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests that each durable benchmark can be measured at its smallest size, and that its result has
 * only declared sides.
 */
@RestoreSystemProperties
class DurableBudgetsTest {
  @BeforeAll
  static void useSmallSizes() {
    Map.of("rounds", "1", "seconds", "0.02", "processes", "1", "child.flags",
        "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC").forEach(System::setProperty);
  }

  private static DurableQuestion question(String name) {
    return DurableBudgets.questions().stream().filter(question -> question.name().equals(name)).findFirst()
        .orElseThrow();
  }

  @ParameterizedTest
  @CsvSource({
    "durable-one, 1, 4",
    "durable-many, 8, 5",
    "durable-opening, 1000, 2",
    "durable-stalls, 8, 2",
    "durable-plain, 1, 2"
  })
  void benchmarkHasResultForEachComparedSide(String name, String size, int sides) throws Exception {
    System.setProperty("size", size);
    var question = question(name);

    var measurements = question.program().measure();

    assertEquals(sides, measurements.size());
    assertTrue(measurements.stream().allMatch(measurement -> measurement.median() > 0), measurements.toString());
    question.result(List.of(measurements)).checkSides();
    question.promises().forEach(promise -> promise.judge(List.of(measurements)));
  }

  @Test
  void slowAsksReportsEachSide() throws Exception {
    assertEquals(5, SlowAsks.measure(4).size());
  }

  @Test
  void appendsBenchmarkMeasuresEachStoreAndSize() throws Exception {
    System.setProperty("size", "8");

    var measurements = Appends.measure(List.of(Appends.MVSTORE));

    assertEquals(List.of("fibry, a folder", "fibry, a folder", "mvstore", "mvstore"),
        measurements.stream().map(RoundMeasurements::side).toList());
    assertEquals(List.of(1L, 8L, 1L, 8L), measurements.stream().map(RoundMeasurements::size).toList());
    assertTrue(measurements.stream().allMatch(measurement -> measurement.median() > 0), measurements.toString());
    question("durable-appends").result(List.of(measurements)).checkSides();
  }

  @Test
  void exceptionNamesStoreThatIsNotOnClassPath() {
    var missingPeer = new Appends.Peer("missing", "org.missing.Store", folder -> {
      throw new AssertionError();
    });

    var failure = assertThrows(IllegalStateException.class, () -> Appends.measure(List.of(missingPeer)));

    assertEquals("missing is not on the class path; run it by mvn -q -Pstores", failure.getMessage());
  }

  /**
   * The measured heap may be negative, because the JVM may free more heap than so few keys or
   * sleepers take.
   */
  @ParameterizedTest
  @CsvSource({"durable-heap, 3", "durable-sleep, 4"})
  void benchmarkRunInChildProcessWritesResults(String name, int sides, @TempDir Path results) throws Exception {
    System.setProperty("size", "1000");
    System.setProperty("results", results.toString());
    var console = System.out;
    System.setOut(new PrintStream(OutputStream.nullOutputStream()));
    try {
      DurableBudgets.ask(List.of(question(name)));
    } finally {
      System.setOut(console);
    }

    var resultsOfProcess = ResultFiles.read(results);
    assertEquals(List.of(name), resultsOfProcess.stream().map(result -> result.question()).toList());
    assertEquals(sides, resultsOfProcess.getFirst().rows().size());
    resultsOfProcess.getFirst().checkSides();
  }

  // ---- judgment of budgets

  private static List<RoundMeasurements> process(double ours, double theirs) {
    return List.of(RoundMeasurements.of("ours", "ops/s", ours), RoundMeasurements.of("theirs", "ops/s", theirs));
  }

  @Test
  void budgetIsKeptIfMedianOfProcessesIsWithinBound() {
    var promise = MeasurementBudget.atLeast(2, 4, "appends", "ours", "theirs");

    var row = promise.judge(List.of(process(90, 10), process(10, 10), process(30, 10)));

    assertEquals(3, row.median());
    assertEquals(1, row.least());
    assertEquals(9, row.most());
    assertEquals("x of \"theirs\"", row.unit());
    assertEquals("at least 2.00, aim 4.00: kept", row.reference());
  }

  @Test
  void budgetIsBrokenIfMeasurementIsBeyondBound() {
    assertTrue(MeasurementBudget.atLeast(2, 4, "", "", "").isKept(2));
    assertFalse(MeasurementBudget.atLeast(2, 4, "", "", "").isKept(1.9));
    assertTrue(MeasurementBudget.atMost(64, 48, "", "", "").isKept(64));
    assertFalse(MeasurementBudget.atMost(64, 48, "", "", "").isKept(65));
    assertEquals("at most 64.0, aim 48.0: BROKEN",
        MeasurementBudget.atMost(64, 48, "heap", "ours", "").judge(List.of(process(65, 0))).reference());
  }

  @Test
  void measurementsWrittenAsLineAreParsedBack() {
    var measurements = new RoundMeasurements("fibry, a side", "ops/s", 1_024, List.of(1.5, 2e9, 3.0));

    assertEquals(measurements, RoundMeasurements.parse(measurements.toLine()));
    assertEquals(3.0, measurements.median());
  }
}
