package io.fibry.micrometer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorSystem;
import io.fibry.DeadLetter;
import io.fibry.cluster.Cluster;
import io.fibry.flow.CircuitBreaker;
import io.fibry.net.HttpRoutes;
import io.fibry.net.HttpServer;
import io.fibry.pubsub.Topic;
import io.fibry.store.folder.FolderStore;
import io.fibry.support.ReadmeProgram;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that the README shows code that tests run, and lists all meters and outcomes. The program
 * of the README must also run as a module that requires the module of fibry-micrometer.
 */
class ReadmeTest {
  private static final Path SOURCES = Path.of("src/test/java/io/fibry/micrometer");
  private static final Pattern NOT_OF_USERS =
      Pattern.compile("test-classes|junit|fibry-test|fibry-durable|tracing|context-propagation|jspecify");
  private static final Pattern METER = Pattern.compile("(?m)^\\| `(fibry\\.[a-z.]+)`");

  @TempDir
  Path folder;

  private static String readme() throws Exception {
    return Files.readString(Path.of("README.md"));
  }

  @Test
  void readmeShowsCodeOfTests() throws Exception {
    var testedCode = ReadmeProgram.withoutIndents(Files.readString(SOURCES.resolve("Shop.java"))
        + Files.readString(SOURCES.resolve("ObservationPropagatorTest.java"))
        + Files.readString(SOURCES.resolve("TracePropagatorTest.java")));
    var shownBlocks = ReadmeProgram.javaBlocks(readme());

    assertEquals(3, shownBlocks.size());
    assertEquals(List.of(),
        shownBlocks.stream().filter(block -> !testedCode.contains(ReadmeProgram.withoutIndents(block))).toList());
  }

  @Test
  void readmeListsAllMeters() throws Exception {
    var registry = new SimpleMeterRegistry();
    new MessageMeters("shop").bindTo(registry);
    new ScopeMeters(ActorSystem.root()).bindTo(registry);
    new ActorMeters(ActorSystem.root(), "clerk").bindTo(registry);
    try (var store = FolderStore.open(folder)) {
      new StoreMeters("orders", store).bindTo(registry);
    }
    try (var cluster = Cluster.local("shop")) {
      new NodeMeters(cluster).bindTo(registry);
    }
    new TopicMeters(Topic.open(ActorSystem.anonymous())).bindTo(registry);
    new BreakerMeters("payments", CircuitBreaker.of("payments", ActorSystem.anonymous(), options -> options))
        .bindTo(registry);
    new SchedulerMeters().bindTo(registry);
    boolean hasScheduler = registry.find("fibry.scheduler.queued").meter() != null; // not on Java 21
    try (var server = HttpServer.open(ActorSystem.anonymous(), 0, HttpRoutes.none(), options -> options)) {
      new RouteMeters("shop", server).bindTo(registry);
    }

    // the registry makes a gauge ".histogram" for each bucket of a timer
    assertEquals(registry.getMeters().stream().map(meter -> meter.getId().getName())
        .filter(name -> !name.endsWith(".histogram")).collect(Collectors.toSet()),
        METER.matcher(readme()).results().map(match -> match.group(1))
            .filter(name -> hasScheduler || !name.startsWith("fibry.scheduler.")).collect(Collectors.toSet()));
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
