package io.fibry.bench.durable;

import io.fibry.bench.ChildJvm;
import io.fibry.bench.report.Result;
import io.fibry.bench.report.ResultRow;
import java.util.ArrayList;
import java.util.List;

/**
 * A question about durable actors: a program, which measures the sides, and the promises that the
 * results must keep.
 *
 * @param name the name of the question and of its result
 * @param title the measured quantity, in words
 * @param processes the maximum number of processes that measure the question
 * @param program measures the sides
 * @param promises the limits that the results must keep
 */
record DurableQuestion(String name, String title, int processes, Program program, List<MeasurementBudget> promises) {
  private static final List<String> CHILD_PROPERTIES = List.of("size", "seconds", "rounds");

  /** Measures all sides in this process. */
  interface Program {
    List<RoundMeasurements> measure() throws Exception;
  }

  static DurableQuestion of(String name, String title, Program program, MeasurementBudget... promises) {
    return new DurableQuestion(name, title, Integer.MAX_VALUE, program, List.of(promises));
  }

  /** Returns this question for one process only. Used where processes hardly differ. */
  DurableQuestion inOneProcess() {
    return new DurableQuestion(name, title, 1, program, promises);
  }

  /** Measures the question in child processes, and returns the results of each process. */
  List<List<RoundMeasurements>> measure(int maxProcesses, Class<?> main, String childArgument) throws Exception {
    // without -Xms, the collection between two rounds would return memory to the system, and the
    // next round would have to get it again
    var flags = new ArrayList<>(List.of("--enable-native-access=ALL-UNNAMED", "-Xms1g"));
    for (var property : CHILD_PROPERTIES)
      if (!System.getProperty(property, "").isBlank()) flags.add("-D" + property + "=" + System.getProperty(property));
    var results = new ArrayList<List<RoundMeasurements>>();
    for (int i = 0; i < Math.min(maxProcesses, processes); i++)
      results.add(
          ChildJvm.run(List.of(), flags, main, childArgument, name).stream().map(RoundMeasurements::parse).toList());
    return results;
  }

  /** Returns a row for each side, from the rounds of all processes. */
  Result result(List<List<RoundMeasurements>> results) {
    var rows = new ArrayList<ResultRow>();
    for (int i = 0; i < results.getFirst().size(); i++) {
      int sideIndex = i;
      var measurements = results.getFirst().get(i);
      rows.add(ResultRow.of(measurements.side(), measurements.unit(), "", results.stream()
          .flatMap(process -> process.get(sideIndex).rounds().stream()).mapToDouble(Double::doubleValue).toArray())
          .withSize(measurements.size()));
    }
    return Result.here(name, title, rows);
  }
}
