package io.fibry.bench.durable;

import io.fibry.bench.ChildJvm;
import io.fibry.bench.report.Result;
import io.fibry.bench.report.Row;
import java.util.ArrayList;
import java.util.List;

/**
 * A question about durable actors.
 *
 * @param name of its result
 * @param title the measured quantity, in words
 * @param processes in how many it is asked at most
 */
record Question(String name, String title, int processes, Program program, List<Promise> promises) {
  private static final List<String> PASSED_ON = List.of("size", "seconds", "rounds");

  /** Measures all sides in this process. */
  interface Program {
    List<Figures> measure() throws Exception;
  }

  static Question of(String name, String title, Program program, Promise... promises) {
    return new Question(name, title, Integer.MAX_VALUE, program, List.of(promises));
  }

  /** For measurements that hardly change from one process to the next. */
  Question inOneProcess() {
    return new Question(name, title, 1, program, promises);
  }

  /** Runs the question in processes of its own, and returns the measurements of each. */
  List<List<Figures>> ask(int inProcesses, Class<?> main, String inChild) throws Exception {
    // a collection between two rounds gives no memory back, for which the next one would ask again
    var flags = new ArrayList<>(List.of("--enable-native-access=ALL-UNNAMED", "-Xms1g"));
    for (var property : PASSED_ON)
      if (!System.getProperty(property, "").isBlank()) flags.add("-D" + property + "=" + System.getProperty(property));
    var all = new ArrayList<List<Figures>>();
    for (int i = 0; i < Math.min(inProcesses, processes); i++)
      all.add(ChildJvm.run(List.of(), flags, main, inChild, name).stream().map(Figures::ofLine).toList());
    return all;
  }

  /** The rounds of all processes count. */
  Result result(List<List<Figures>> all) {
    var rows = new ArrayList<Row>();
    for (int i = 0; i < all.getFirst().size(); i++) {
      int side = i;
      var first = all.getFirst().get(i);
      rows.add(Row.of(first.side(), first.unit(), "", all.stream()
          .flatMap(process -> process.get(side).rounds().stream()).mapToDouble(Double::doubleValue).toArray())
          .withSize(first.size()));
    }
    return Result.here(name, title, rows);
  }
}
