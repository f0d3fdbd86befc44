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
import io.fibry.support.Child;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.File;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that the README shows code that tests run, and lists all meters and outcomes. The program
 * of the README must also run as a module that requires the module of fibry-micrometer.
 */
class ReadmeTest {
  private static final Path SOURCES = Path.of("src/test/java/io/fibry/micrometer");
  private static final Pattern BLOCK = Pattern.compile("(?ms)^```java\n(.*?)^```$");
  private static final Pattern PRINTS = Pattern.compile("// prints (.*)");
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
    var testedCode = withoutIndents(Files.readString(SOURCES.resolve("Shop.java"))
        + Files.readString(SOURCES.resolve("ObservationPropagatorTest.java"))
        + Files.readString(SOURCES.resolve("TracePropagatorTest.java")));
    var shownBlocks = BLOCK.matcher(readme()).results().map(match -> match.group(1)).toList();

    assertEquals(3, shownBlocks.size());
    assertEquals(List.of(), shownBlocks.stream().filter(block -> !testedCode.contains(withoutIndents(block))).toList());
  }

  private static String withoutIndents(String code) {
    return code.replaceAll("(?m)^ +", "");
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
    write("module-info.java", "module shop {\n  requires io.fibry.micrometer;\n}\n");
    var program = Files.readString(SOURCES.resolve("Shop.java"));
    write("Shop.java", program.replace("package io.fibry.micrometer;", "package shop;\nimport io.fibry.micrometer.*;")
        .replace("{@link ReadmeTest}", ""));

    javac("--release", "21", "-Xlint:all,-requires-automatic", "-Werror", "--module-path", modulePath(), "-d",
        folder.toString(), folder.resolve("module-info.java").toString(), folder.resolve("Shop.java").toString());

    assertEquals(PRINTS.matcher(program).results().map(match -> match.group(1)).toList(),
        java("--module-path", folder + File.pathSeparator + modulePath(), "--module", "shop/shop.Shop"));
  }

  private void write(String file, String source) throws Exception {
    Files.writeString(folder.resolve(file), source);
  }

  /** Returns the module path of a user: without tests, test libraries or optional libraries. */
  private static String modulePath() {
    var classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    var userParts = new TreeSet<String>();
    for (var part : classPath.split(File.pathSeparator))
      if (!NOT_OF_USERS.matcher(Path.of(part).getFileName().toString()).find()) userParts.add(part);
    return String.join(File.pathSeparator, userParts);
  }

  private static void javac(String... arguments) {
    var output = new StringWriter();
    int exit;
    try (var writer = new PrintWriter(output)) {
      exit = ToolProvider.findFirst("javac").orElseThrow().run(writer, writer, arguments);
    }
    assertEquals(0, exit, output::toString);
  }

  /** Runs a program in a JVM of its own. Returns the lines that it prints. */
  private List<String> java(String... arguments) throws Exception {
    try (var child = Child.java(List.of(arguments))) {
      return child.awaitExit(0).lines().toList();
    }
  }
}
