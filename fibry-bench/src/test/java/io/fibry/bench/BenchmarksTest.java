package io.fibry.bench;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.support.Soak;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/**
 * Tests that each benchmark runs with each of its parameters, for one tiny iteration in this JVM.
 * Except in a soak, only one number of senders and one mailbox size are used. The class
 * also tests the comparison of two files of results.
 */
class BenchmarksTest {
  @TempDir
  private Path folder;

  static List<String> benchmarkNames() {
    return JmhRunner.questions(List.of(), List.of());
  }

  @ParameterizedTest
  @MethodSource("benchmarkNames")
  void benchmarkRunsWithEachParameter(String benchmark) throws RunnerException, IOException {
    var log = Files.createDirectories(Path.of("target", "benchmarks")).resolve(benchmark + ".log");
    var options = new OptionsBuilder();
    if (!Soak.ON) options.param("senders", "4").param("capacity", "16");
    var runOptions = options.include("\\." + Pattern.quote(benchmark) + "\\.").forks(0).warmupIterations(0)
        .measurementIterations(1).measurementTime(TimeValue.milliseconds(5)).shouldFailOnError(true)
        .verbosity(VerboseMode.NORMAL).output(log.toString()).build();

    var results = new Runner(runOptions).run();

    assertFalse(results.isEmpty(), "no benchmark was found; see " + log);
    for (var result : results) assertTrue(result.getPrimaryResult().getScore() > 0, result.getParams().id());
  }

  @Test
  void listedJmhBenchmarksAreFoundOnClassPath() {
    var names = benchmarkNames();

    assertTrue(
        names.containsAll(List.of("Activation", "BackPressure", "Creation", "FanOut", "InlineRequest", "ManyToOne",
            "OneToOne", "PingPong", "PipelineStages", "PoolTasks", "Priority", "Request", "Timers")),
        names.toString());
  }

  @Test
  void resultIsWorseIfSlowerByMoreThanTenPercentAndErrorBars() throws IOException {
    var oldFile = file("old", 100, 3);

    assertFalse(isWorse(oldFile, file("slightly slower", 109, 1)));
    assertFalse(isWorse(oldFile, file("uncertain", 130, 30)));
    assertFalse(isWorse(oldFile, file("faster", 50, 1)));
    assertTrue(isWorse(oldFile, file("slower", 120, 5)));
  }

  @Test
  void missingErrorBarCountsAsZero() throws IOException {
    assertTrue(isWorse(file("old", 100, Double.NaN), file("new", 120, Double.NaN)));
  }

  @Test
  void eachModeOfBenchmarkIsCompared() throws IOException {
    var oldFile = fileWithTwoModes("old", 100);

    assertFalse(isWorse(oldFile, fileWithTwoModes("same", 100)));
    assertTrue(isWorse(oldFile, fileWithTwoModes("slower", 200)));
  }

  private static boolean isWorse(Path oldFile, Path newFile) throws IOException {
    return JmhComparison.hasWorse(oldFile, newFile, new PrintStream(OutputStream.nullOutputStream()));
  }

  private Path file(String name, double score, double error) throws IOException {
    return Files.writeString(folder.resolve(name + ".json"), "[ " + resultJson("avgt", score, error) + " ]");
  }

  /** Writes a file whose average time has this score, and whose throughput is always 1. */
  private Path fileWithTwoModes(String name, double score) throws IOException {
    return Files.writeString(folder.resolve(name + ".json"),
        "[ " + resultJson("avgt", score, 0) + ", " + resultJson("thrpt", 1, 0) + " ]");
  }

  private static String resultJson(String mode, double score, double error) {
    return """
        { "benchmark" : "io.fibry.bench.OneToOne.message", "mode" : "%s", "params" : { "who" : "fiber" },
          "primaryMetric" : { "score" : %s, "scoreError" : %s, "scoreUnit" : "ns/op" } }
        """.formatted(mode, score, Double.isNaN(error) ? "\"NaN\"" : error);
  }
}
