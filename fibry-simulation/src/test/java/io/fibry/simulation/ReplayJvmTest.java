package io.fibry.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that the flag in a failure's text repeats the failure in a new JVM. */
class ReplayJvmTest {
  private static final Pattern REPLAY_FLAG = Pattern.compile("again: (-Dfibry.simulation=\\S+)");

  static final class Program {
    public static void main(String[] args) {
      try {
        System.out.println(Simulation.run(Programs.PHILOSOPHERS.program(true)));
      } catch (SimulationFailure | IllegalArgumentException failure) {
        System.out.println(failure.getMessage());
      }
    }
  }

  private static String run(String... flags) throws Exception {
    return Jvm.run(0, List.of(flags), Jvm.CLASS_PATH, Program.class);
  }

  private static String replayFlag(String printed) {
    var matcher = REPLAY_FLAG.matcher(printed);
    assertTrue(matcher.find(), printed);
    return matcher.group(1);
  }

  @Test
  void replayFlagRepeatsFailure() throws Exception {
    var first = run();
    var second = run(replayFlag(first));

    assertTrue(second.contains("deadlock: no thread can run"), second);
    assertEquals(replayFlag(first), replayFlag(second));
    assertEquals(trace(first), trace(second));
  }

  @Test
  void numberOfSeedsCanBeSetByProperty() throws Exception {
    var printed = run("-Dfibry.simulation.seeds=3");

    assertTrue(printed.contains("4 runs in 4 different orders"), printed);
  }

  @Test
  void propertyWithInvalidNumberOfSeedsIsRefused() throws Exception {
    var printed = run("-Dfibry.simulation.seeds=many");

    assertTrue(printed.contains("-Dfibry.simulation.seeds=many is not a number of seeds; give zero or more"), printed);
  }

  @ParameterizedTest
  @ValueSource(strings = {"1h", "0"})
  void propertyWithInvalidPatienceIsRefused(String patience) throws Exception {
    var printed = run("-Dfibry.simulation.patience=" + patience);

    assertTrue(printed.contains("-Dfibry.simulation.patience=" + patience + " is not a number of seconds; give 1 to"),
        printed);
  }

  private static List<String> trace(String printed) {
    return printed.lines().filter(line -> line.contains(" --> ")).toList();
  }
}
