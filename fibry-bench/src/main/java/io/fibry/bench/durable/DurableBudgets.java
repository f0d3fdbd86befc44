package io.fibry.bench.durable;

import io.fibry.bench.ChildJvm;
import io.fibry.bench.report.Result;
import io.fibry.bench.report.ResultRow;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * Measures the cost of durable actors, and checks the promises: bounds on a cost itself, or on its
 * ratio to a reference in the same process. {@code DurableBudgets durable-one,durable-heap} runs
 * only these questions. In each of three processes the sides take turns; the median over the
 * processes is judged. Exits with 1 if a promise is broken.
 */
public final class DurableBudgets {
  private static final String CHILD_ARGUMENT = "--process";

  private DurableBudgets() {}

  static List<DurableQuestion> questions() {
    return List.of(OneAsker.question(), ManyAskers.question(), Appends.question(), OpenedStore.question(),
        PassivatedKeys.question(), SleepingHandlers.question(), Stalls.question(), PlainRequests.question());
  }

  /**
   * Runs the named questions, or all. The properties {@code processes}, {@code rounds} and
   * {@code seconds} set the number of processes, the rounds in each, and the length of a round.
   */
  public static void main(String[] names) throws Exception {
    if (names.length == 2 && names[0].equals(CHILD_ARGUMENT)) {
      for (var measurements : question(names[1]).program().measure()) ChildJvm.tell(measurements.toLine());
      System.exit(0); // threads of other libraries may still run
    }
    var chosenNames =
        Arrays.stream(names).flatMap(name -> Arrays.stream(name.split(","))).filter(name -> !name.isBlank()).toList();
    var chosenQuestions =
        chosenNames.isEmpty() ? questions() : chosenNames.stream().map(DurableBudgets::question).toList();
    System.exit(ask(chosenQuestions) ? 0 : 1);
  }

  private static DurableQuestion question(String name) {
    return questions().stream().filter(question -> question.name().equals(name)).findFirst()
        .orElseThrow(() -> new IllegalArgumentException(
            "no question '" + name + "'; there are " + questions().stream().map(DurableQuestion::name).toList()));
  }

  /** Measures and prints the questions. Returns whether all promises are kept. */
  static boolean ask(List<DurableQuestion> questions) throws Exception {
    System.out.println("JDK " + Runtime.version() + ", " + Runtime.getRuntime().availableProcessors() + " processors");
    boolean areAllKept = true;
    var promiseRows = new ArrayList<ResultRow>();
    for (var question : questions) {
      long start = System.nanoTime();
      System.out.printf(Locale.ROOT, "%n%s: %s%n", question.name(), question.title());
      var measurements = question.measure(Integer.getInteger("processes", 3), DurableBudgets.class, CHILD_ARGUMENT);
      var result = question.result(measurements);
      for (var row : result.rows()) print(row);
      result.write();
      for (var promise : question.promises()) {
        var row = promise.judge(measurements);
        areAllKept &= promise.isKept(row.median());
        print(row);
        promiseRows.add(row);
      }
      System.out.printf(Locale.ROOT, "after %.0f s%n", (System.nanoTime() - start) / 1e9);
    }
    if (questions.size() == questions().size()) Result.here("budgets-durable",
        "each value is a measurement, or its ratio to a side in the same process (x of \"the side\"); "
            + "it comes from the process with the median",
        promiseRows).write();
    return areAllKept;
  }

  private static void print(ResultRow row) {
    System.out.printf(Locale.ROOT, "  %-55s %10s %-6s (%s..%s)  %s%n",
        row.side() + (row.size() == 0 ? "" : String.format(Locale.ROOT, ", %,d", row.size())),
        ResultRow.readable(row.median()), row.unit(), ResultRow.readable(row.least()), ResultRow.readable(row.most()),
        row.reference());
  }
}
