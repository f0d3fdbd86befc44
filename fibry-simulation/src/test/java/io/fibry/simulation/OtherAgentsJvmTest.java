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

/** Programs are simulated though agents for coverage and for mocks change their classes, too. */
class OtherAgentsJvmTest {
  /** Final, so that a mock changes this class itself, after it was loaded. */
  static final class Prices {
    int of(String hat) throws InterruptedException {
      Thread.sleep(Duration.ofDays(1));
      return (int) Duration.ofNanos(System.nanoTime()).toDays() + hat.length();
    }
  }

  static final class Program {
    public static void main(String[] args) throws Exception {
      var summary = Simulation.run(options -> options.withSeeds(20), sim -> {
        var mocked = mock(Prices.class);
        when(mocked.of("hat")).thenReturn(30);
        var shop = sim.scope().named("shop").newActorWithReturn((Prices prices) -> prices.of("hat"));
        long began = System.nanoTime();
        int price = shop.ask(mocked);
        if (price != 30 || System.nanoTime() != began) throw new AssertionError("mocked: " + price);
        int real = shop.ask(new Prices(), Duration.ofDays(2));
        if (real < 3 || System.nanoTime() - began != Duration.ofDays(1).toNanos())
          throw new AssertionError("real: " + real);
        verify(mocked, times(1)).of("hat");
      });
      System.out.println(summary);
    }
  }

  /**
   * Those that are not named attach themselves, later. The first two have ours before and after
   * each other one, each by its flag and attached.
   */
  static Stream<String> agents() {
    var all = Stream.of("ours jacoco", "jacoco mockito", "jacoco", "jacoco mockito ours", "ours mockito jacoco");
    return Soak.ON ? all : all.limit(2);
  }

  @ParameterizedTest
  @MethodSource("agents")
  @Promise("29.19")
  void agentsOfOthersAndOursWorkTogether(String agents, @TempDir Path folder) throws Exception {
    var covered = folder.resolve("covered.exec");
    var jar = Jvm.jar(folder);
    var flags = new ArrayList<String>();
    flags.add("-Dfibry.simulation.patience=60"); // the first mock takes seconds on a busy machine
    for (var agent : agents.split(" ")) flags.add("-javaagent:" + switch (agent) {
      case "jacoco" -> library("org.jacoco.agent") + "=destfile=" + covered;
      case "mockito" -> library("mockito-core");
      default -> jar.toString();
    });

    var printed = Jvm.run(0, flags, Jvm.CLASS_PATH.replace(Jvm.CLASSES.toString(), jar.toString()), Program.class);

    assertTrue(printed.contains("21 runs in "), printed);
    assertTrue(Files.readString(covered, StandardCharsets.ISO_8859_1).contains(name(Prices.class)), printed);
  }

  private static String name(Class<?> type) {
    return type.getName().replace('.', '/');
  }

  private static String library(String name) {
    return Stream.of(Jvm.CLASS_PATH.split(File.pathSeparator)).filter(part -> part.contains(name)).findFirst()
        .orElseThrow();
  }
}
