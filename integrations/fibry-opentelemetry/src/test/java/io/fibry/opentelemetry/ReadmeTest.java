package io.fibry.opentelemetry;

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
import io.fibry.support.Patience;
import io.fibry.test.TestScope;
import io.opentelemetry.sdk.metrics.data.MetricData;
import java.io.File;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that the README shows code that tests run, and lists all metrics and outcomes. The program
 * of the README must also run as a module, without an SDK and without the optional modules.
 */
class ReadmeTest {
  private static final Path SOURCES = Path.of("src/test/java/io/fibry/opentelemetry");
  private static final Pattern BLOCK = Pattern.compile("(?ms)^```java\n(.*?)^```$");
  private static final Pattern PRINTS = Pattern.compile("// prints (.*)");
  private static final Pattern NOT_OF_USERS =
      Pattern.compile("test-classes|junit|fibry-test|fibry-durable|fibry-cluster|opentelemetry-sdk|jspecify");
  private static final Pattern METRIC = Pattern.compile("(?m)^\\| `((?:fibry|http)\\.[a-z.]+)`");

  @TempDir
  Path folder;

  private static String readme() throws Exception {
    return Files.readString(Path.of("README.md"));
  }

  @Test
  void readmeShowsCodeOfTests() throws Exception {
    var testedCode = withoutIndents(Files.readString(SOURCES.resolve("Shop.java"))
        + Files.readString(SOURCES.resolve("StoreAndNodeMetricsTest.java"))
        + Files.readString(SOURCES.resolve("ReadmeTest.java")));
    var shownBlocks = BLOCK.matcher(readme()).results().map(match -> match.group(1)).toList();

    assertEquals(2, shownBlocks.size());
    assertEquals(List.of(), shownBlocks.stream().filter(block -> !testedCode.contains(withoutIndents(block))).toList());
  }

  private static String withoutIndents(String code) {
    return code.replaceAll("(?m)^ +", "");
  }

  @Test
  void readmeProgramPublishesSpanAndMetrics() {
    try (var telemetry = new Telemetry()) {
      Shop.sell(telemetry.api());

      assertEquals(telemetry.span("order").getSpanId(), telemetry.span("handle clerk").getParentSpanId());
      assertEquals(1, telemetry.value("fibry.messages", Map.of("scope", "shop", "outcome", "handled")));
      assertEquals(1, telemetry.value("fibry.handling", Map.of("scope", "shop")));
    }
  }

  @Test
  void readmeListsAllMetrics() throws Exception {
    try (var telemetry = new Telemetry();
        var metrics = OpenTelemetryMetrics.of(telemetry.api());
        var store = FolderStore.open(folder);
        var cluster = Cluster.local("shop");
        var client = HttpClient.newHttpClient();
        var scope = TestScope.open("test",
            options -> options.withContextPropagator(MessageDurations.of(telemetry.api(), "test")));
        var server = HttpServer.open(ActorSystem.anonymous(), 0, HttpRoutes.none(), options -> options)) {
      var payments = CircuitBreaker.of("payments", ActorSystem.anonymous(), options -> options);
      Topic<String> prices = Topic.open(scope.named("prices"));
      // @start region="all"
      metrics.addScope(scope).addActors(scope, "clerk").addServer("web", server)
          .addTopic(prices).addBreaker("payments", payments).addScheduler();
      StoreMetrics.addTo(metrics, "orders", store);
      NodeMetrics.addTo(metrics, cluster);
      // @end
      var clerk = scope.named("clerk").newActorWithReturn((String order) -> order);
      clerk.ask("hat");
      var request = HttpRequest.newBuilder(URI.create("http://localhost:" + server.port() + "/")).build();
      assertEquals(404, client.send(request, BodyHandlers.discarding()).statusCode());
      Patience.eventually(() -> telemetry.metric("http.server.request.duration").isPresent()
          && telemetry.metric("fibry.handling").isPresent());
      boolean hasScheduler = telemetry.metric("fibry.scheduler.queued").isPresent(); // not on Java 21

      var published = new TreeSet<>(telemetry.metrics().stream().map(MetricData::getName).toList());
      var documented = new TreeSet<>(METRIC.matcher(readme()).results().map(match -> match.group(1))
          .filter(name -> hasScheduler || !name.startsWith("fibry.scheduler.")).toList());
      assertEquals(published, documented);
    }
  }

  @Test
  void readmeListsAllOutcomes() throws Exception {
    var outcomes = Arrays.stream(DeadLetter.Reason.values()).map(reason -> reason.name().toLowerCase(Locale.ROOT))
        .collect(Collectors.joining(", "));

    assertTrue(readme().contains(": handled, " + outcomes + " |"), outcomes);
  }

  @Test
  void readmeProgramRunsAsModule() throws Exception {
    write("module-info.java", "module shop {\n  requires io.fibry.opentelemetry;\n}\n");
    var program = Files.readString(SOURCES.resolve("Shop.java"));
    write("Shop.java",
        program.replace("package io.fibry.opentelemetry;", "package shop;\nimport io.fibry.opentelemetry.*;")
            .replace("{@link ReadmeTest}", ""));

    javac("--release", "21", "-Xlint:all,-requires-automatic", "-Werror", "--module-path", modulePath(), "-d",
        folder.toString(), folder.resolve("module-info.java").toString(), folder.resolve("Shop.java").toString());

    assertEquals(PRINTS.matcher(program).results().map(match -> match.group(1)).toList(),
        java("--module-path", folder + File.pathSeparator + modulePath(), "--module", "shop/shop.Shop"));
  }

  private void write(String file, String source) throws Exception {
    Files.writeString(folder.resolve(file), source);
  }

  /**
   * Returns the module path of a user: without tests, test libraries, SDK or optional libraries.
   */
  private static String modulePath() {
    var classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    var userParts = new TreeSet<String>();
    for (var part : classPath.split(File.pathSeparator))
      if (!NOT_OF_USERS.matcher(part).find()) userParts.add(part);
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
