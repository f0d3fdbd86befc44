package io.fibry.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Runs the examples whose bugs only a simulation finds. It also runs, in simulated time, the
 * examples whose results depend on the speed of the machine.
 */
class SimulatedExamplesTest {
  /**
   * The lines that each example prints, in this order; # stands for any number. Real threads on a
   * busy machine may also find the first two bugs.
   */
  static final Map<String, List<String>> BUGS = Map.of(
      "LostUpdate", List.of("real threads: # of 300 shops have lost a sale", "seed # fails after # steps.*",
          "java.lang.AssertionError: a sale is lost", "faults: delays", " *# *# s  main --> till 1: Ada",
          " *# *# s  till 1 --> stock: Read\\[].*", " *# *# s  till . --> stock: Write\\[hats=9].*",
          " *# *# s  till . --> stock: Write\\[hats=9].*", "again: -Dfibry.simulation=#.*"),
      "PaidTwice", List.of("real threads: # orders, each paid once: (true|false)", "seed # fails after # steps.*",
          "not always so: each order is paid once", "faults: delays", " *# *# s  till --> bank: order #.*",
          " *# *# s  till --> bank: order #.*", "again: -Dfibry.simulation=#.*"),
      "ForgetfulRestart", List.of("real threads: the cart keeps 1000 items: true", "seed # fails after # steps.*",
          "java.lang.AssertionError: the cart has forgotten an item", "faults: mailboxes",
          " *# *# s  main --> cart: item #.*", "again: -Dfibry.simulation=#.*"),
      "TornTransfer", List.of("real threads: after 300 transfers there are 200 cents", "seed # fails after # steps.*",
          "java.lang.AssertionError: after a power cut there are 170 cents",
          " *# *# s  transfer --> ada: Pay\\[cents=-30].*",
          " *# *# s  [*][*] crash of bank", " *# *# s  main --> bob: Pay\\[cents=0].*",
          "again: -Dfibry.simulation=#.*"));

  @TempDir
  private static Path emptyFolder;

  private static ProgramJvm jvm;

  @BeforeAll
  static void openJvm() {
    jvm = ProgramJvm.ofClasses(emptyFolder);
  }

  @AfterAll
  static void closeJvm() {
    jvm.close();
  }

  /** Returns the examples with a bug, except PaidTwice, which runs as a module. */
  static Stream<String> bugs() {
    return BUGS.keySet().stream().filter(example -> !example.equals("PaidTwice"));
  }

  @ParameterizedTest
  @MethodSource("bugs")
  void simulationFindsBugsThatRealThreadsMiss(String example) {
    assertBugIsPrinted(example, jvm.run(example));
  }

  @Test
  void simulationFindsBugOfModularProgram() {
    assertBugIsPrinted("PaidTwice", ExamplesTest.run(List.of(), "PaidTwice"));
  }

  private static void assertBugIsPrinted(String example, String printedText) {
    var lines = printedText.lines().iterator();
    for (var expectedLine : BUGS.get(example)) {
      var pattern = Pattern.compile(expectedLine.replace("#", "[\\d,.]+"));
      boolean isFound = false;
      while (!isFound && lines.hasNext()) isFound = pattern.matcher(lines.next()).matches();
      assertTrue(isFound, () -> "missing: " + expectedLine + "\nin\n" + printedText);
    }
  }

  static Iterable<String> timedExamples() {
    return new TreeSet<>(ExpectedOutput.WITH_LIMITS);
  }

  @ParameterizedTest
  @MethodSource("timedExamples")
  void examplePrintsExpectedTextInSimulatedTime(String example) {
    var printedText = ExpectedOutput.withoutTime(jvm.call(InSimulatedTime.class.getName(), example)) + "\n";

    var expected = ExpectedOutput.FIRST_RUN.get(example) + "\n";
    assertEquals(expected.repeat(Math.max(1, printedText.length() / expected.length())), printedText);
  }
}
