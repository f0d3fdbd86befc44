package io.fibry.micrometer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.DeadLetter;
import io.fibry.support.ReadmeProgram;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MockClock;
import io.micrometer.core.instrument.simple.SimpleConfig;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that the README and its page of meters show code that tests run, and list all meters and
 * outcomes. The program
 * of the README must also run as a module that requires the module of fibry-micrometer.
 */
class ReadmeTest {
  private static final Path SOURCES = Path.of("src/test/java/io/fibry/micrometer");
  private static final Pattern NOT_OF_USERS =
      Pattern.compile("test-classes|junit|fibry-test|prometheus|jackson|fibry-durable|tracing|context-propagation|"
          + "jspecify");
  private static final Pattern METER = Pattern.compile("(?m)^\\| `(fibry\\.[a-z.]+)` \\| `(fibry_[a-z_]+)` \\|");
  private static final Pattern FAMILY = Pattern.compile("(?m)^# TYPE (\\S+)");

  private final MockClock clock = new MockClock();

  @TempDir
  Path folder;

  private static String readme() throws Exception {
    return Files.readString(Path.of("README.md")) + Files.readString(Path.of("METERS.md"));
  }

  @Test
  void readmeShowsCodeOfTests() throws Exception {
    var testedCode = ReadmeProgram.withoutIndents(Files.readString(SOURCES.resolve("Shop.java"))
        + Files.readString(SOURCES.resolve("OrderService.java"))
        + Files.readString(SOURCES.resolve("ObservationPropagatorTest.java"))
        + Files.readString(SOURCES.resolve("TracePropagatorTest.java")));
    var shownBlocks = ReadmeProgram.javaBlocks(readme());

    assertEquals(4, shownBlocks.size());
    assertEquals(List.of(),
        shownBlocks.stream().filter(block -> !testedCode.contains(ReadmeProgram.withoutIndents(block))).toList());
  }

  /** Returns a column of the table of meters, without the scheduler on a Java that has no bean. */
  private static Set<String> tableColumn(int column, MeterRegistry registry) throws Exception {
    boolean hasScheduler = registry.find("fibry.scheduler.queued").meter() != null; // not on Java 21
    return METER.matcher(readme()).results().map(row -> row.group(column))
        .filter(name -> hasScheduler || !name.matches("fibry.scheduler.+")).collect(Collectors.toSet());
  }

  @Test
  void readmeListsAllMeters() throws Exception {
    var registry = new SimpleMeterRegistry(SimpleConfig.DEFAULT, clock);
    // the registry makes a gauge ".histogram" for each bucket of a timer
    AllMeters.with(registry, clock, folder,
        () -> assertEquals(registry.getMeters().stream().map(meter -> meter.getId().getName())
            .filter(name -> !name.endsWith(".histogram")).collect(Collectors.toSet()), tableColumn(1, registry)));
  }

  @Test
  void readmeListsNamesInPrometheus() throws Exception {
    var registry = AllMeters.prometheus(clock);
    AllMeters.with(registry, clock, folder, () -> {
      var families = FAMILY.matcher(registry.scrape()).results().map(type -> type.group(1)).collect(Collectors.toSet());
      var withMax = families.stream().filter(name -> name.endsWith("_max")).collect(Collectors.toSet());
      families.removeAll(withMax);

      assertEquals(families, tableColumn(2, registry));
      assertEquals(Set.of("fibry_wait_seconds_max", "fibry_handling_seconds_max", "fibry_http_requests_seconds_max"),
          withMax);
    });
  }

  @Test
  void noMeterOfEndedObjectIsNaN() throws Exception {
    var registry = AllMeters.prometheus(clock);
    AllMeters.with(registry, clock, folder, () -> {});

    assertEquals(List.of(), registry.scrape().lines().filter(line -> line.contains("NaN")).toList());
  }

  @Test
  void readmeListsAllOutcomes() throws Exception {
    var outcomes = Arrays.stream(DeadLetter.Reason.values()).map(reason -> reason.name().toLowerCase(Locale.ROOT))
        .collect(Collectors.joining(", "));

    assertTrue(readme().contains(": handled, " + outcomes + " |"), outcomes);
  }

  @Test
  void readmeProgramRunsAsModule() throws Exception {
    assertEquals(ReadmeProgram.promisedLines(ReadmeProgram.shopOf("io.fibry.micrometer")),
        ReadmeProgram.runShop(folder, "io.fibry.micrometer", NOT_OF_USERS));
  }
}
