package io.fibry.sample;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.support.Patience;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.support.GenericApplicationContext;

/** Tests the whole application over HTTP. It is started again if a test has closed it. */
class ShopTest {
  private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";
  private static final int CAPACITY = ShopApplication.CLERKS + ShopApplication.MAX_QUEUED;

  @TempDir
  private static Path folder;

  private static final BlockedWarehouse WAREHOUSE = new BlockedWarehouse();
  private static ConfigurableApplicationContext shop; // null before the first test

  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  @BeforeEach
  void open() {
    WAREHOUSE.hold();
    if (shop == null || !shop.isActive()) shop = start();
  }

  private static ConfigurableApplicationContext start() {
    var application = new SpringApplication(ShopApplication.class);
    application.addInitializers(context -> ((GenericApplicationContext) context).registerBean("held", Warehouse.class,
        () -> WAREHOUSE, definition -> definition.setPrimary(true)));
    application.addInitializers(context -> ((GenericApplicationContext) context)
        .registerBean(InMemorySpanExporter.class, InMemorySpanExporter::create));
    return application.run("--server.port=0", "--fibry.ask-limit=" + Patience.LONG,
        "--fibry.drain-limit=" + Patience.LONG, "--fibry.store.folder=" + folder);
  }

  @AfterEach
  void cleanUp() {
    WAREHOUSE.open();
    client.close();
  }

  @AfterAll
  static void close() {
    if (shop != null) shop.close();
  }

  private HttpRequest request(String path, String... headers) {
    var request = HttpRequest
        .newBuilder(URI.create("http://localhost:" + shop.getEnvironment().getProperty("local.server.port") + path))
        .timeout(Patience.LONG.multipliedBy(2));
    if (headers.length > 0) request.headers(headers);
    return request.build();
  }

  private HttpResponse<String> get(String path, String... headers) throws Exception {
    return client.send(request(path, headers), HttpResponse.BodyHandlers.ofString());
  }

  private String post(String path) throws Exception {
    var request = HttpRequest.newBuilder(request(path), (name, value) -> true)
        .POST(HttpRequest.BodyPublishers.noBody()).build();
    return client.send(request, HttpResponse.BodyHandlers.ofString()).body();
  }

  private CompletableFuture<HttpResponse<String>> order() {
    return client.sendAsync(request("/orders/hat"), HttpResponse.BodyHandlers.ofString());
  }

  private List<CompletableFuture<HttpResponse<String>>> orders(int count) {
    var responses = new ArrayList<CompletableFuture<HttpResponse<String>>>();
    for (int i = 0; i < count; i++) responses.add(order());
    return responses;
  }

  private static List<Integer> statuses(List<CompletableFuture<HttpResponse<String>>> responses) {
    return responses.stream().map(response -> response.join().statusCode()).sorted().toList();
  }

  @Test
  void orderIsAnsweredAndActuatorShowsItsScopesAndMeters() throws Exception {
    WAREHOUSE.open();

    var response = get("/orders/hat");

    assertEquals(200, response.statusCode());
    assertEquals("{\"what\":\"hat\",\"number\":1}", response.body());
    var health = get("/actuator/health").body();
    assertTrue(health.contains("\"fibry\":{") && health.contains("\"scope\":\"shop\""), health);
    var actors = get("/actuator/actors", "Accept", "application/json").body();
    assertTrue(actors.contains("\"scope\":\"shop\"") && actors.contains("\"scope\":\"tomcat\""), actors);
    var dump = get("/actuator/actors", "Accept", "text/plain").body();
    assertTrue(dump.contains("scope 'tomcat'") && dump.contains(" at work") && dump.contains("clerks"), dump);
    for (var meter : List.of("fibry.messages?tag=scope:shop&tag=outcome:handled",
        "fibry.messages.waiting?tag=scope:tomcat", "fibry.wait?tag=scope:shop", "fibry.handling?tag=scope:tomcat"))
      assertEquals(200, get("/actuator/metrics/" + meter).statusCode(), meter);
  }

  /** Returns the exported span of this name in the test's trace; empty until it is exported. */
  private static Optional<SpanData> exportedSpan(String name) {
    shop.getBean(SdkTracerProvider.class).forceFlush();
    return shop.getBean(InMemorySpanExporter.class).getFinishedSpanItems().stream()
        .filter(span -> span.getTraceId().equals(TRACE) && span.getName().equals(name)).findFirst();
  }

  @Test
  void spanOfClerkIsInTraceOfRequest() throws Exception {
    WAREHOUSE.open();

    get("/orders/hat", "traceparent", "00-" + TRACE + "-b7ad6b7169203331-01");

    // the span of the request ends after the response
    Patience.eventually(() -> exportedSpan("http get /orders/{what}").isPresent());
    var request = exportedSpan("http get /orders/{what}").orElseThrow();
    assertEquals("b7ad6b7169203331", request.getParentSpanId());
    var order = exportedSpan("warehouse.fetch").orElseThrow(); // in the same trace, and ended before
    assertEquals(request.getSpanId(), order.getParentSpanId());
  }

  @Test
  void basketSurvivesRestartOfShop() throws Exception {
    post("/baskets/ada/hat");
    assertEquals("{\"items\":[\"hat\",\"shoes\"]}", post("/baskets/ada/shoes"));

    shop.close();
    shop = start();

    assertEquals("{\"items\":[\"hat\",\"shoes\"]}", get("/baskets/ada").body());
    assertEquals("{\"items\":[]}", get("/baskets/grace").body());
    assertTrue(get("/actuator/health").body().contains("\"folderStore\":{\"turns\":0,"));
  }

  /**
   * All clerks are blocked until the last refusal has arrived, so no refusal waits until an order
   * is served.
   */
  @Test
  void excessOrdersAreRefusedAtOnceAndOtherOrdersAreServed() throws Exception {
    var responses = orders(ShopApplication.CLERKS);
    WAREHOUSE.awaitBusy();
    var refusals = new CountDownLatch(3 * CAPACITY);
    for (var response : orders(4 * CAPACITY - ShopApplication.CLERKS)) {
      responses.add(response);
      response.thenAccept(completed -> {
        if (completed.statusCode() == 503) refusals.countDown();
      });
    }
    Patience.await(refusals);
    var refusal = get("/orders/hat");
    assertEquals("1", refusal.headers().firstValue("Retry-After").orElseThrow());
    assertTrue(refusal.body().contains("try again later") && !refusal.body().contains("clerks"), refusal::body);

    WAREHOUSE.open();

    var statuses = statuses(responses);
    assertEquals(CAPACITY, statuses.stream().filter(status -> status == 200).count());
    assertEquals(3L * CAPACITY, statuses.stream().filter(status -> status == 503).count());
    assertTrue(shop.getBean(ActorScope.class).awaitQuiescence(Patience.LONG)); // no clerk handles an order any more
    WAREHOUSE.hold();
    var laterResponses = orders(CAPACITY);
    WAREHOUSE.awaitBusy();
    WAREHOUSE.open();
    assertEquals(List.of(200), statuses(laterResponses).stream().distinct().toList());
  }

  @Test
  void healthIsDownAndOrdersAreRefusedWhenScopeIsClosed() throws Exception {
    shop.getBean(ActorScope.class).close();

    assertEquals(503, get("/orders/hat").statusCode());
    assertEquals(503, get("/actuator/health").statusCode());
    shop.close();
  }

  @Test
  void acceptedOrderIsAnsweredWhileShopCloses() throws Exception {
    var responses = orders(ShopApplication.CLERKS);
    WAREHOUSE.awaitBusy();
    shop.addApplicationListener(event -> {
      if (event instanceof ContextClosedEvent) WAREHOUSE.open();
    });

    shop.close();

    assertEquals(List.of(200), statuses(responses).stream().distinct().toList());
  }
}
