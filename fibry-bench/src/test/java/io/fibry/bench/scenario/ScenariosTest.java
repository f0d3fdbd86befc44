package io.fibry.bench.scenario;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.bench.report.Result;
import io.fibry.bench.report.ResultFiles;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.util.RestoreSystemProperties;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests that each scenario runs at its smallest size, and writes its rows. */
@RestoreSystemProperties
class ScenariosTest {
  private static final String[] NO_ARGUMENTS = {};

  @TempDir
  Path results;

  @BeforeAll
  static void useSmallSizes() {
    Map.of("rounds", "1", "seconds", "0.02", "heap", "16", "threads", "10", "processors", "1", "jvms", "1", "pause",
        "0",
        "child.flags", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC").forEach(System::setProperty);
  }

  @ParameterizedTest
  @CsvSource({
    "ActorCreation, 1000, 2, 10",
    "LiveActors, 1000, 2, 12",
    "ScopedActors, 1000, 3, 18",
    "ContextSwitches, 100, 1, 5",
    "MessageRate, 800, 2, 10",
    "BlockingCalls, 20, 1, 5",
    "DelayedTasks, 1000, 1, 5",
    "AsyncHooks, 10, 1, 6",
    "FileReads, 4, 1, 8",
    "SqlOverload, 1, 2, 35",
    "SlowCalls, 4, 2, 10",
    "Growth, 10, 1, 12"
  })
  void scenarioWritesExpectedResultsAndRows(String scenario, String size, int questions, int rows) throws Exception {
    System.setProperty("size", size);
    System.setProperty("results", results.toString());

    var console = System.out;
    System.setOut(new PrintStream(OutputStream.nullOutputStream()));
    try {
      Class.forName("io.fibry.bench.scenario." + scenario).getMethod("main", String[].class).invoke(null,
          (Object) NO_ARGUMENTS);
    } finally {
      System.setOut(console);
    }

    var writtenResults = ResultFiles.read(results);
    assertEquals(questions, writtenResults.size());
    // The number of rows varies: SqlOverload writes no latency for a step without an answer
    assertTrue(writtenResults.stream().mapToInt(result -> result.rows().size()).sum() >= rows,
        writtenResults::toString);
    writtenResults.forEach(Result::checkSides);
  }
}
