package io.fibry.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** What a failure prints to repeat it repeats it in a JVM where nothing has run before. */
class ReplayJvmTest {
  private static final Pattern AGAIN = Pattern.compile("again: (-Dfibry.simulation=\\S+)");

  static final class Program {
    public static void main(String[] args) {
      try {
        System.out.println(Simulation.run(Programs.PHILOSOPHERS.program(true)));
      } catch (SimulationFailure failure) {
        System.out.println(failure.getMessage());
      }
    }
  }

  private static String run(String... flags) throws Exception {
    return Jvm.run(0, List.of(flags), Jvm.CLASS_PATH, Program.class);
  }

  private static String again(String printed) {
    var found = AGAIN.matcher(printed);
    assertTrue(found.find(), printed);
    return found.group(1);
  }

  @Test
  void theLineThatAFailurePrintsRepeatsIt() throws Exception {
    var first = run();
    var second = run(again(first));

    assertTrue(second.contains("deadlock: nothing can run"), second);
    assertEquals(again(first), again(second));
    assertEquals(trace(first), trace(second));
  }

  @Test
  void theNumberOfSeedsCanBeSaid() throws Exception {
    var few = run("-Dfibry.simulation.seeds=3");

    assertTrue(few.contains("4 runs in 4 different orders"), few);
  }

  private static List<String> trace(String printed) {
    return printed.lines().filter(line -> line.contains(" --> ")).toList();
  }
}
