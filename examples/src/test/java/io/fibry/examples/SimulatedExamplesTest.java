package io.fibry.examples;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Runs the examples whose bugs only a simulation finds. */
class SimulatedExamplesTest {
  /** By example: lines that it prints, in this order; # stands for any number. */
  static final Map<String, List<String>> PRINTED = Map.of(
      "LostUpdate", List.of("real threads: 0 of 300 shops have lost a sale", "seed # fails after # steps.*",
          "java.lang.AssertionError: a sale is lost", "faults: delays", " *# *# s  main --> till 1: Ada",
          " *# *# s  till 1 --> stock: Left\\[].*", " *# *# s  till . --> stock: Write\\[left=9].*",
          " *# *# s  till . --> stock: Write\\[left=9].*", "again: -Dfibry.simulation=#.*"),
      "PaidTwice", List.of("real threads: 1000 orders, each paid once: true", "seed # fails after # steps.*",
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
  private Path folder;

  static Iterable<String> examples() {
    return PRINTED.keySet();
  }

  @ParameterizedTest
  @MethodSource("examples")
  void simulationFindsWhatRealThreadsDoNot(String example) throws Exception {
    var printed = ExamplesTest.run(folder, example, null);

    var lines = printed.lines().iterator();
    for (var wanted : PRINTED.get(example)) {
      var pattern = Pattern.compile(wanted.replace("#", "[\\d,.]+"));
      boolean found = false;
      while (!found && lines.hasNext()) found = pattern.matcher(lines.next()).matches();
      assertTrue(found, () -> "missing: " + wanted + "\nin\n" + printed);
    }
  }
}
