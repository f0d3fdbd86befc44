package io.fibry.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.bench.CarrierComparison.CarrierBudget.Reference;
import io.fibry.bench.CarrierComparison.Side;
import io.fibry.bench.report.Result;
import io.fibry.bench.report.ResultRow;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests that each question does its work, and that processes with both schedulers measure it. */
class CarrierComparisonTest {
  private static final int TIMES = 256; // at least one operation for each sender

  static List<String> questionNames() {
    return CarrierComparison.QUESTIONS.stream().map(CarrierQuestion::name).toList();
  }

  @ParameterizedTest
  @MethodSource("questionNames")
  void questionMeasuresOurWorkAndWorkOfPeer(String name) throws Exception {
    var question = CarrierComparison.named(name);

    for (var part : question.parts()) {
      assertTrue(part.ourWork().nanosEach(TIMES) > 0);
      if (question.hasPeer()) assertTrue(part.peerWork().nanosEach(TIMES) > 0);
    }
  }

  @ParameterizedTest
  @EnumSource(Side.class)
  void processOfSideTellsValueForEachPart(Side side) throws Exception {
    var question = CarrierComparison.named("compute-4");

    var values = CarrierComparison.runChild(question, side, 1, 1);

    assertEquals(question.parts().size(), values.length);
    for (double value : values) assertTrue(value > 0);
  }

  @ParameterizedTest
  @CsvSource({"100, 100, true", "100, 130, false", "130, 100, true"}) // the ratio must be 0.83 or more
  void promiseIsKeptIfRatioToReferenceIsReached(double unparkNanos, double askNanos, boolean isKept) {
    var promise = CarrierComparison.PROMISES.stream().filter(it -> it.reference() == Reference.UNPARKS).findFirst()
        .orElseThrow();

    assertEquals(isKept,
        CarrierComparison.judge(promise, List.of(result("unparks", unparkNanos), result("ask-actor", askNanos))));
  }

  @Test
  void promiseOfUnmeasuredQuestionIsRefused() {
    var promise = CarrierComparison.PROMISES.getFirst();

    var refusal = assertThrows(IllegalArgumentException.class, () -> CarrierComparison.judge(promise, List.of()));

    assertEquals("'ask-fiber' was not measured", refusal.getMessage());
  }

  @Test
  void eachPromiseNamesQuestionWithItsReference() {
    for (var promise : CarrierComparison.PROMISES)
      assertTrue(promise.reference() != Reference.PEER || CarrierComparison.named(promise.question()).hasPeer());
  }

  private static Result result(String question, double nanos) {
    return Result.here("carriers-" + question, question, List.of(ResultRow.of("fibry, carriers", "ns", "", nanos)));
  }

  @Test
  void questionNamesAreUnique() {
    assertEquals(questionNames().size(), questionNames().stream().distinct().count());
  }
}
