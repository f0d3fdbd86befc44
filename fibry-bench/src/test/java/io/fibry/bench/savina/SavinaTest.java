package io.fibry.bench.savina;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class SavinaTest {
  private static final List<SavinaProgram> SMALL_PROGRAMS = List.of(
      PingPong.program(100),
      Counting.program(1_000),
      ThreadRing.program(10, 1_001),
      ForkJoinCreate.program(100),
      ForkJoinThroughput.program(6, 100),
      Big.program(12, 100),
      Chameneos.program(10, 100),
      Philosophers.program(5, 100),
      Banking.program(20, 500),
      Sieve.program(1_000, 10),
      Skynet.program(1_000));

  static Stream<Arguments> sides() {
    return SMALL_PROGRAMS.stream().flatMap(
        program -> program.sides().stream().map(side -> Arguments.of(program.name(), side.name(), program, side)));
  }

  @ParameterizedTest(name = "{0} {1}")
  @MethodSource("sides")
  void eachImplementationOfProgramComputesExpectedResult(String programName, String sideName, SavinaProgram program,
      SavinaProgram.ProgramSide side) throws Exception {
    assertTrue(program.measureNanos(side) > 0);
  }

  @Test
  void everyProgramIsTested() {
    assertEquals(Savina.PROGRAMS.stream().map(SavinaProgram::name).toList(),
        SMALL_PROGRAMS.stream().map(SavinaProgram::name).toList());
  }

  @Test
  void onlySidesOnFibersAreMeasuredOnCarriers() {
    var names = SMALL_PROGRAMS.getFirst().onCarriers().sides().stream().map(SavinaProgram.ProgramSide::name).toList();

    assertEquals(List.of("fibry-carriers", "fibry-inline-carriers", "fibry-messages-carriers", "hand-carriers"), names);
  }

  @Test
  void wrongResultOfImplementationFailsMeasurement() {
    var program =
        SavinaProgram.of("wrong", "size", 1, new SavinaProgram.ProgramSide("side", round -> round.setResult(2)));

    var failure = assertThrows(IllegalStateException.class, () -> program.measureNanos(program.sides().getFirst()));

    assertEquals("the result of wrong on side is 2, not 1", failure.getMessage());
  }

  @Test
  void exceptionOfImplementationFailsMeasurement() {
    var program = SavinaProgram.of("broken", "size", 1, new SavinaProgram.ProgramSide("side", round -> {
      throw new UnsupportedOperationException("broken");
    }));

    assertThrows(UnsupportedOperationException.class, () -> program.measureNanos(program.sides().getFirst()));
  }
}
