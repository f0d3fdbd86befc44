package io.fibry.simulation;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.simulation.run.Decisions;
import io.fibry.simulation.run.FaultKind;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DecisionsTest {

  @Test
  void decisionsTextListsOnlyNonDefaultDecisions() {
    var decisions = new Decisions();
    for (int i = 0; i < 100; i++) decisions.add(i == 3 ? 1 : i == 90 ? 2 : 0);

    assertEquals("3=1,90=2", decisions.toString());
    assertArrayEquals(new int[] {3, 90}, decisions.deviationIndices());
    assertEquals(100, decisions.count());
    assertEquals(0, decisions.rank(1_000));
  }

  @Test
  void withoutDeviationsReturnsCopyWithoutGivenDeviations() {
    var decisions = Decisions.parse("1=1,4=7,9=2");

    assertEquals("1=1", decisions.withoutDeviations(decisions.deviationIndices(), 1, 3).toString());
    assertEquals("1=1,4=7,9=2", decisions.toString());
    assertEquals("1=1,4=7", decisions.withoutDeviations(new int[] {9, 1_000}, 0, 2).toString());
  }

  @ParameterizedTest
  @ValueSource(strings = {"4", "4:", "4:0=1", "-7:3=1,17=2", "4:0=1!kills", "4!kills!delays", "9223372036854775807:"})
  void replayTextRoundTrips(String text) {
    assertEquals(text, RunReplay.parse(text).toString());
  }

  @Test
  void replayTextListsDisabledFault() {
    var replay = RunReplay.parse("4:0=1!kills").without(FaultKind.STALLS);

    assertEquals(Set.of(FaultKind.KILLS, FaultKind.STALLS), replay.disabledFaults());
    assertEquals("4:0=1!kills!stalls", replay.toString());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "x", "4:1", "4:1=", "4:2=1,1=1", "4!fire", "4:1=1,"})
  void invalidReplayTextIsRefused(String text) {
    var refusal = assertThrows(IllegalArgumentException.class, () -> RunReplay.parse(text));

    assertTrue(refusal.getMessage().startsWith("'" + text + "' is not a run of a simulation; give the text that"),
        refusal.getMessage());
  }
}
