package io.fibry.bench.durable;

import io.fibry.bench.ChildJvm;
import io.fibry.bench.report.Result;
import io.fibry.bench.report.ResultRow;
import java.util.ArrayList;
import java.util.List;

/**
 * A question about durable actors.
 *
 * @param name of its result
 * @param title the measured quantity, in words
 * @param processes in how many it is asked at most
 */
record DurableQuestion(String name, String title, int processes, Program program, List<FigureBudget> promises) {
  private static final List<String> PASSED_ON = List.of("size", "seconds", "rounds");

  /** Measures all sides in this process. */
  interface Program {
    List<RoundFigures> measure() throws Exception;
  }

  static DurableQuestion of(String name, String title, Program program, FigureBudget... promises) {
    return new DurableQuestion(name, title, Integer.MAX_VALUE, program, List.of(promises));
  }

  /** For measurements that hardly change from one process to the next. */
  DurableQuestion inOneProcess() {
    return new DurableQuestion(name, title, 1, program, promises);
  }

  /** Runs the question in processes of its own, and returns the measurements of each. */
  List<List<RoundFigures>> ask(int inProcesses, Class<?> main, String inChild) throws Exception {
    // a collection between two rounds gives no memory back, for which the next one would ask again
    var flags = new ArrayList<>(List.of("--enable-native-access=ALL-UNNAMED", "-Xms1g"));
    for (var property : PASSED_ON)
      if (!System.getProperty(property, "").isBlank()) flags.add("-D" + property + "=" + System.getProperty(property));
    var all = new ArrayList<List<RoundFigures>>();
    for (int i = 0; i < Math.min(inProcesses, processes); i++)
      all.add(ChildJvm.run(List.of(), flags, main, inChild, name).stream().map(RoundFigures::ofLine).toList());
    return all;
  }

  /** The rounds of all processes count. */
  Result result(List<List<RoundFigures>> all) {
    var rows = new ArrayList<ResultRow>();
    for (int i = 0; i < all.getFirst().size(); i++) {
      int side = i;
      var first = all.getFirst().get(i);
      rows.add(ResultRow.of(first.side(), first.unit(), "", all.stream()
          .flatMap(process -> process.get(side).rounds().stream()).mapToDouble(Double::doubleValue).toArray())
          .withSize(first.size()));
    }
    return Result.here(name, title, rows);
  }
}
