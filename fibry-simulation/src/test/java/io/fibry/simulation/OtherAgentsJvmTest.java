package io.fibry.simulation;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import io.fibry.support.Soak;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests that programs are simulated even if agents for coverage and mocks change their classes. */
class OtherAgentsJvmTest {
  /** A final class: a mock of it changes the class itself, after it was loaded. */
  static final class Prices {
    int priceOf(String hat) throws InterruptedException {
      Thread.sleep(Duration.ofDays(1));
      return (int) Duration.ofNanos(System.nanoTime()).toDays() + hat.length();
    }
  }

  static final class Program {
    public static void main(String[] args) throws Exception {
      var summary = Simulation.run(options -> options.withSeeds(20), sim -> {
        var mockedPrices = mock(Prices.class);
        when(mockedPrices.priceOf("hat")).thenReturn(30);
        var shop = sim.scope().named("shop").newActorWithReturn((Prices prices) -> prices.priceOf("hat"));
        long start = System.nanoTime();
        int price = shop.ask(mockedPrices);
        if (price != 30 || System.nanoTime() != start) throw new AssertionError("mocked: " + price);
        int realPrice = shop.ask(new Prices(), Duration.ofDays(2));
        if (realPrice < 3 || System.nanoTime() - start != Duration.ofDays(1).toNanos())
          throw new AssertionError("real: " + realPrice);
        verify(mockedPrices, times(1)).priceOf("hat");
      });
      System.out.println(summary);
    }
  }

  /**
   * Returns lists of agents in the order of their flags; "ours" is the agent of fibry-simulation.
   * Agents that a list omits attach themselves later. The first two lists suffice to load "ours"
   * before and after each of the other agents.
   */
  static Stream<String> agents() {
    var lists = Stream.of("ours jacoco", "jacoco mockito", "jacoco", "jacoco mockito ours", "ours mockito jacoco");
    return Soak.ON ? lists : lists.limit(2);
  }

  @ParameterizedTest
  @MethodSource("agents")
  @Promise("29.19")
  void simulationRunsWithCoverageAndMockAgents(String agents, @TempDir Path folder) throws Exception {
    var coverageFile = folder.resolve("covered.exec");
    var jar = Jvm.jar(folder);
    var flags = new ArrayList<String>();
    flags.add("-Dfibry.simulation.patience=60"); // the first mock takes seconds on a busy machine
    for (var agent : agents.split(" ")) flags.add("-javaagent:" + switch (agent) {
      case "jacoco" -> library("org.jacoco.agent") + "=destfile=" + coverageFile;
      case "mockito" -> library("mockito-core");
      default -> jar.toString();
    });

    var printed = Jvm.run(0, flags, Jvm.CLASS_PATH.replace(Jvm.CLASSES.toString(), jar.toString()), Program.class);

    assertTrue(printed.contains("21 runs in "), printed);
    assertTrue(Files.readString(coverageFile, StandardCharsets.ISO_8859_1).contains(pathOf(Prices.class)), printed);
  }

  private static String pathOf(Class<?> type) {
    return type.getName().replace('.', '/');
  }

  private static String library(String name) {
    return Stream.of(Jvm.CLASS_PATH.split(File.pathSeparator)).filter(part -> part.contains(name)).findFirst()
        .orElseThrow();
  }
}
