package io.fibry.sample;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.support.Patience;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
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

/** The whole application, over real HTTP, started again if a test has closed it. */
class ShopTest {
  private static final int ROOM = ShopApplication.CLERKS + ShopApplication.MAX_QUEUED;

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
    return application.run("--server.port=0", "--fibry.ask-limit=" + Patience.LONG,
        "--fibry.drain-limit=" + Patience.LONG, "--fibry.store.folder=" + folder);
  }

  @AfterEach
  void serve() {
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
    var answers = new ArrayList<CompletableFuture<HttpResponse<String>>>();
    for (int i = 0; i < count; i++) answers.add(order());
    return answers;
  }

  private static List<Integer> statuses(List<CompletableFuture<HttpResponse<String>>> answers) {
    return answers.stream().map(answer -> answer.join().statusCode()).sorted().toList();
  }

  @Test
  void anOrderIsAnsweredAndSeenByActuator() throws Exception {
    WAREHOUSE.open();

    var answer = get("/orders/hat");

    assertEquals(200, answer.statusCode());
    assertEquals("{\"what\":\"hat\",\"number\":1}", answer.body());
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

  @Test
  void aBasketIsThereWhenTheShopStartsAgain() throws Exception {
    post("/baskets/ada/hat");
    assertEquals("{\"items\":[\"hat\",\"shoes\"]}", post("/baskets/ada/shoes"));

    shop.close();
    shop = start();

    assertEquals("{\"items\":[\"hat\",\"shoes\"]}", get("/baskets/ada").body());
    assertEquals("{\"items\":[]}", get("/baskets/grace").body());
    assertTrue(get("/actuator/health").body().contains("\"folderStore\":{\"turns\":0,"));
  }

  /** Orders are refused while all clerks are held, so a refusal needs no order to be served. */
  @Test
  void excessOrdersAreRefusedAtOnceAndTheRestAreServed() throws Exception {
    var answers = orders(ShopApplication.CLERKS);
    WAREHOUSE.awaitBusy();
    var refused = new CountDownLatch(3 * ROOM);
    for (var answer : orders(4 * ROOM - ShopApplication.CLERKS)) {
      answers.add(answer);
      answer.thenAccept(come -> {
        if (come.statusCode() == 503) refused.countDown();
      });
    }
    Patience.await(refused);
    var told = get("/orders/hat");
    assertEquals("1", told.headers().firstValue("Retry-After").orElseThrow());
    assertTrue(told.body().contains("try again later") && !told.body().contains("clerks"), told::body);

    WAREHOUSE.open();

    var statuses = statuses(answers);
    assertEquals(ROOM, statuses.stream().filter(status -> status == 200).count());
    assertEquals(3L * ROOM, statuses.stream().filter(status -> status == 503).count());
    WAREHOUSE.hold();
    var again = orders(ROOM);
    WAREHOUSE.awaitBusy();
    WAREHOUSE.open();
    assertEquals(List.of(200), statuses(again).stream().distinct().toList());
  }

  @Test
  void aScopeThatHasClosedIsDownAndRefuses() throws Exception {
    shop.getBean(ActorScope.class).close();

    assertEquals(503, get("/orders/hat").statusCode());
    assertEquals(503, get("/actuator/health").statusCode());
    shop.close();
  }

  @Test
  void anAcceptedOrderIsAnsweredAlthoughTheShopCloses() throws Exception {
    var answers = orders(ShopApplication.CLERKS);
    WAREHOUSE.awaitBusy();
    shop.addApplicationListener(event -> {
      if (event instanceof ContextClosedEvent) WAREHOUSE.open();
    });

    shop.close();

    assertEquals(List.of(200), statuses(answers).stream().distinct().toList());
  }
}
