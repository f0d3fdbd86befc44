package io.fibry.opentelemetry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorStats.ActorState;
import io.fibry.ActorSystem;
import io.fibry.AskTimeoutException;
import io.fibry.DeadLetter;
import io.fibry.FailurePolicy;
import io.fibry.cluster.Cluster;
import io.fibry.flow.CircuitBreaker;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.net.HttpRoutes;
import io.fibry.net.HttpServer;
import io.fibry.pubsub.Topic;
import io.fibry.store.folder.FolderStore;
import io.fibry.support.Patience;
import io.fibry.support.ReadmeProgram;
import io.fibry.test.TestScope;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.metrics.data.MetricDataType;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that the README shows code that tests run, and lists all metrics and outcomes. The program
 * of the README must also run as a module, without an SDK and without the optional modules.
 */
class ReadmeTest {
  private static final Path SOURCES = Path.of("src/test/java/io/fibry/opentelemetry");
  private static final Pattern NOT_OF_USERS =
      Pattern.compile("test-classes|junit|fibry-test|fibry-durable|fibry-cluster|opentelemetry-sdk|jspecify");
  private static final Pattern METER = Pattern.compile("(?m)^\\| `(fibry\\.[a-z.]+)` \\| `(fibry_[a-z_]+)` \\|");
  private static final Pattern EXPRESSION = Pattern.compile("(?m)^\\| [^|]+\\? \\| `([^`]+)`");
  private static final Pattern SUM = Pattern.compile("sum by \\(([^)]+)\\) \\(rate\\((\\w+)\\{([^}]+)}");
  private static final Pattern LABEL = Pattern.compile("(\\w+)=");
  private static final Pattern METRIC = Pattern.compile("(?m)^\\| `((?:fibry|http)\\.[a-z.]+)`");

  @TempDir
  Path folder;

  private static String readme() throws Exception {
    return Files.readString(Path.of("README.md"));
  }

  @Test
  void readmeShowsCodeOfTests() throws Exception {
    var testedCode = ReadmeProgram.withoutIndents(Files.readString(SOURCES.resolve("Shop.java"))
        + Files.readString(SOURCES.resolve("StoreAndNodeMetricsTest.java"))
        + Files.readString(SOURCES.resolve("StepSpansTest.java"))
        + Files.readString(SOURCES.resolve("ReadmeTest.java")));
    var shownBlocks = ReadmeProgram.javaBlocks(readme());

    assertEquals(3, shownBlocks.size());
    assertEquals(List.of(),
        shownBlocks.stream().filter(block -> !testedCode.contains(ReadmeProgram.withoutIndents(block))).toList());
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
    var entered = new CountDownLatch(1);
    var gate = new CountDownLatch(1);
    try (var telemetry = new Telemetry();
        var metrics = OpenTelemetryMetrics.of(telemetry.api());
        var store = FolderStore.open(folder);
        var cluster = Cluster.local("shop");
        var client = HttpClient.newHttpClient();
        var scope = TestScope.open("test",
            options -> options.withContextPropagator(MessageDurations.of(telemetry.api(), "test")));
        var server = HttpServer.open(ActorSystem.anonymous(), 0,
            HttpRoutes.none().text("GET /orders", exchange -> "hat"), options -> options)) {
      var payments = CircuitBreaker.of("payments", ActorSystem.anonymous(), options -> options);
      Topic<String> prices = Topic.open(scope.named("prices"));
      prices.subscribeToLatest(price -> {});
      // @start region="all"
      metrics.addScope(scope).addActors(scope, "clerk", "cart-*").addServer("web", server)
          .addTopic(prices).addBreaker("payments", payments).addScheduler();
      StoreMetrics.addTo(metrics, "orders", store);
      NodeMetrics.addTo(metrics, cluster);
      // @end
      var clerk =
          scope.named("clerk").mailbox(Mailbox.bounded(100, Overflow.REJECT)).newActorWithReturn((String order) -> {
            if (order.equals("hat")) return order;
            entered.countDown();
            gate.await();
            return order;
          });
      clerk.ask("hat");
      clerk.sendMessage("occupies the clerk");
      Patience.await(entered);
      var expiring = clerk.sendMessageReturn("expires", Duration.ofSeconds(1));
      scope.clock().advance(Duration.ofSeconds(1));
      assertInstanceOf(AskTimeoutException.class, Patience.failure(expiring));
      for (int i = 0; i < 100; i++) clerk.sendMessage("waits");
      clerk.sendMessage("refused");
      var backoff = Duration.ofHours(1);
      scope.named("cart-1").onFailure(FailurePolicy.restart().withBackoff(backoff, backoff).withoutLog())
          .newActor((String item) -> {
            throw new IllegalStateException("for a test");
          }).sendMessage("fails");
      Patience.eventually(() -> scope.actors().stream().anyMatch(actor -> actor.state() == ActorState.SUSPENDED));
      telemetry.metrics(); // begins to measure the times
      scope.clock().advance(Duration.ofSeconds(10));
      var request = HttpRequest.newBuilder(URI.create("http://localhost:" + server.port() + "/orders")).build();
      assertEquals(200, client.send(request, BodyHandlers.discarding()).statusCode());
      Patience.eventually(() -> telemetry.metric("http.server.request.duration").isPresent()
          && telemetry.metric("fibry.handling").isPresent());
      boolean hasScheduler = telemetry.metric("fibry.scheduler.queued").isPresent(); // not on Java 21

      var published = new TreeSet<>(telemetry.metrics().stream().map(MetricData::getName).toList());
      var documented = new TreeSet<>(METRIC.matcher(readme()).results().map(match -> match.group(1))
          .filter(name -> hasScheduler || !name.startsWith("fibry.scheduler.")).toList());
      assertEquals(published, documented);
      checkExpressions(telemetry);
      var namesOfMicrometer = METER.matcher(Files.readString(Path.of("../fibry-micrometer/METERS.md"))).results()
          .collect(Collectors.toMap(row -> row.group(1), row -> row.group(2)));
      for (var metric : telemetry.metrics()) if (namesOfMicrometer.containsKey(metric.getName()))
        assertEquals(namesOfMicrometer.get(metric.getName()), nameInPrometheus(metric));
      gate.countDown();
      scope.advance(backoff);
    }
  }

  /** Checks that the metrics and attributes in the expressions of the README exist. */
  private static void checkExpressions(Telemetry telemetry) throws Exception {
    var attributes = telemetry.metrics().stream().collect(Collectors.toMap(ReadmeTest::nameInPrometheus,
        metric -> metric.getData().getPoints().stream()
            .flatMap(point -> point.getAttributes().asMap().keySet().stream())
            .map(key -> key.getKey().replace('.', '_')).collect(Collectors.toSet())));
    var expressions = EXPRESSION.matcher(readme()).results().map(match -> match.group(1)).toList();
    assertEquals(3, expressions.size(), expressions::toString);
    for (var expression : expressions) for (var sum : SUM.matcher(expression).results().toList()) {
      var ofMetric = attributes.get(sum.group(2).replaceAll("_(count|bucket)$", ""));
      var used = Stream.concat(Stream.of(sum.group(1).split(", ")),
          LABEL.matcher(sum.group(3)).results().map(label -> label.group(1))).toList();
      for (var label : used)
        assertTrue(List.of("instance", "le").contains(label) || ofMetric != null && ofMetric.contains(label),
            () -> label + " of " + ofMetric + " in " + sum.group());
    }
  }

  /** Returns the name that the specification of OpenTelemetry prescribes for Prometheus. */
  private static String nameInPrometheus(MetricData metric) {
    var unit = switch (metric.getUnit()) {
      case "s" -> "_seconds";
      case "By" -> "_bytes";
      case "1" -> metric.getType() == MetricDataType.LONG_GAUGE ? "_ratio" : "";
      default -> metric.getUnit().matches("(\\{\\w+})?") ? "" : "_" + metric.getUnit();
    };
    boolean isCounter = metric.getType() == MetricDataType.LONG_SUM && metric.getLongSumData().isMonotonic();
    return metric.getName().replace('.', '_') + unit + (isCounter ? "_total" : "");
  }

  @Test
  void readmeListsAllOutcomes() throws Exception {
    var outcomes = Arrays.stream(DeadLetter.Reason.values()).map(reason -> reason.name().toLowerCase(Locale.ROOT))
        .collect(Collectors.joining(", "));

    assertTrue(readme().contains(": handled, " + outcomes + " |"), outcomes);
  }

  @Test
  void readmeProgramRunsAsModule() throws Exception {
    assertEquals(ReadmeProgram.promisedLines(ReadmeProgram.shopOf("io.fibry.opentelemetry")),
        ReadmeProgram.runShop(folder, "io.fibry.opentelemetry", NOT_OF_USERS));
  }
}
