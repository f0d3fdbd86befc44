package io.fibry.bench;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.bench.Budgets.RatioBudget;
import io.fibry.bench.PairedMeasurement.Workload;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Runs the work of promises a few times, without judging the ratios. */
class BudgetsTest {
  private static final int TIMES = 20;

  static List<Workload> mixedWork() {
    return MixedWork.works();
  }

  @ParameterizedTest
  @MethodSource("mixedWork")
  void mixedWorkEnds(Workload work) throws Exception {
    assertTrue(work.nanosEach(TIMES) > 0);
  }

  /** Returns the promises whose work needs no other JVM and no mixed work. */
  static Stream<RatioBudget> promises() {
    return Budgets.PROMISES.stream()
        .filter(promise -> !promise.name().matches("start|carriers-ask|.*-mixed"));
  }

  @ParameterizedTest
  @MethodSource("promises")
  void promisedWorkAndReferenceEnd(RatioBudget promise) throws Exception {
    assertTrue(promise.ourWork().nanosEach(TIMES) > 0);
    assertTrue(promise.referenceWork().nanosEach(TIMES) > 0);
  }
}
