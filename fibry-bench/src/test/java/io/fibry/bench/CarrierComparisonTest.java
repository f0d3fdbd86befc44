package io.fibry.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.bench.CarrierComparison.Side;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
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

  @Test
  void questionNamesAreUnique() {
    assertEquals(questionNames().size(), questionNames().stream().distinct().count());
  }
}
