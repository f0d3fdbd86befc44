package io.fibry.dashboard;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.cluster.Cluster;
import io.fibry.cluster.MemoryNetwork;
import io.fibry.dashboard.StorePanel.StoreSample;
import io.fibry.durable.Durable;
import io.fibry.net.HttpException;
import io.fibry.net.HttpRoutes;
import io.fibry.net.HttpServer;
import io.fibry.store.folder.FolderStore;
import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the panels with values of the program, stores, nodes, and routes of servers. */
class PanelsTest {
  private static final long SECOND = 1_000_000_000;

  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = ActorSystem.openScope("app");

  @AfterEach
  void close() {
    scope.closeWithin(Duration.ZERO);
  }

  private String statistics(UnaryOperator<DashboardOptions> options) throws Exception {
    try (var dashboard = Dashboard.open(scope, 0, options, clock)) {
      return statistics(dashboard);
    }
  }

  private static String statistics(Dashboard dashboard) throws Exception {
    return Web.get(dashboard.port(), "/statistics");
  }

  @Test
  void panelsShowValuesOfProgramOrItsException() throws Exception {
    var values = new LinkedHashMap<String, Object>();
    values.put("pending", 7);
    values.put("broken", false);
    values.put("state", "<b>");
    values.put("unknown", null);

    try (var dashboard = Dashboard.open(scope, 0, options -> options.withPanel("Store", () -> values)
        .withPanel("Node", () -> {
          throw new IllegalStateException("hush");
        }))) {
      var text = statistics(dashboard);

      assertTrue(text.contains("\"panels\":[{\"title\":\"Store\",\"values\":{\"pending\":7,\"broken\":false,"
          + "\"state\":\"\\u003cb\\u003e\",\"unknown\":\"null\"}},{\"title\":\"Node\",\"values\":"
          + "{\"failed\":\"IllegalStateException\"}}]"), text);
      assertFalse(text.contains("hush"), text);
    }
  }

  private static HttpServer openServer(ActorScope scope) {
    var routes = HttpRoutes.none().text("GET /orders/{id}", exchange -> "order").text("GET /broken", exchange -> {
      throw new HttpException(502, "for a test");
    }).text("GET /busy", exchange -> {
      throw new HttpException(503, "for a test");
    });
    return HttpServer.open(scope.named("web"), 0, routes, options -> options);
  }

  private void get(HttpServer server, String... paths) throws Exception {
    long before = answered(server);
    for (var path : paths) Web.get(server.port(), path);
    Patience.eventually(() -> answered(server) == before + paths.length && isIdle(server));
  }

  /** Returns whether no exchange runs; a handler may still run when a client has its response. */
  private boolean isIdle(HttpServer server) {
    var load = server.load();
    return load.working() + load.waiting() == 0
        && scope.actors().stream().allMatch(actor -> actor.messageType().isEmpty());
  }

  private static long answered(HttpServer server) {
    return server.stats().stream().mapToLong(HttpServer.RouteStats::answered).sum();
  }

  @Test
  void routesPanelCountsStatusesAndFindsErrors() throws Exception {
    var server = openServer(scope);
    get(server, "/orders/1");

    try (var dashboard = Dashboard.open(scope, 0, options -> options.withRoutes("api", server), clock)) {
      var firstText = statistics(dashboard);
      assertTrue(firstText.contains("\"cutOff\":0,\"routeCount\":3,\"recentMillis\":0,\"routes\":["), firstText);
      assertTrue(firstText.contains("{\"route\":\"GET /orders/{id}\",\"answered\":1,\"perSecond\":null,\"working\":0,"
          + "\"maxWorkMillis\":0,\"upgraded\":0,\"successful\":1,\"redirected\":0,\"clientErrors\":0,"
          + "\"serverErrors\":0,\"timedOut\":0,\"unavailable\":0,\"p50Millis\":null,\"p50Range\":[null,null],\"p99Millis\":null,"
          + "\"p99Range\":[null,null],\"maxRange\":[null,null],\"openWebSockets\":0}"), firstText);
      assertFalse(firstText.contains("\"route\":\"none\""), firstText);
      assertTrue(firstText.matches("(?s).*\\{\"title\":\"api\",\"working\":0,\"waiting\":0,\"maxExchanges\":1024,"
          + "\"connections\":\\d+,\"cutOff\":0,.*"), firstText);
      get(server, "/orders/1", "/orders/2", "/broken", "/busy", "/unknown");
      clock.advance(Duration.ofSeconds(2));

      var text = statistics(dashboard);

      assertTrue(text.matches("(?s).*GET /orders/\\{id}\",\"answered\":3,\"perSecond\":1.0,\"working\":0,"
          + "\"maxWorkMillis\":0,\"upgraded\":0,\"successful\":3,.*\"p50Millis\":[0-9.]+,"
          + "\"p50Range\":\\[[0-9.]+,[0-9.]+],\"p99Millis\":[0-9.]+,.*\"openWebSockets\":0},.*"), text);
      assertTrue(text.matches("(?s).*GET /broken\",[^}]*\"serverErrors\":1,\"timedOut\":0,\"unavailable\":0,[^}]*"
          + "\"problems\":\\[\"failing\"],\"lastMillisAgo\":\\{\"failing\":0},\"lastAt\":\\{\"failing\":\"20[^\"]+\"},"
          + "\"recent\":\\{\"failing\":\\{\"count\":1,\"of\":1,\"inMillis\":2000}}}.*"), text);
      assertTrue(text.matches("(?s).*GET /busy\",[^}]*\"serverErrors\":0,\"timedOut\":0,\"unavailable\":1,[^}]*"
          + "\"problems\":\\[\"unavailable\"],\"lastMillisAgo\":\\{\"unavailable\":0},"
          + "\"lastAt\":\\{\"unavailable\":\"20[^\"]+\"},"
          + "\"recent\":\\{\"unavailable\":\\{\"count\":1,\"of\":1,\"inMillis\":2000}}}.*"), text);
      var routes =
          Pattern.compile("\"route\":\"([^\"]+)\"").matcher(text).results().map(match -> match.group(1)).toList();
      assertEquals(List.of("GET /broken", "GET /busy", "GET /orders/{id}", "none"), routes); // problems come first
      assertTrue(text.contains("\"routeCount\":4,") && text.contains("\"route\":\"none\",\"answered\":1,"), text);
    }
  }

  @Test
  void failuresOfRouteHaveTextOnlyIfContentsAreShown() throws Exception {
    var server = openServer(scope);
    get(server, "/broken", "/busy");
    try (var dashboard = Dashboard.open(scope, 0, options -> options.withRoutes("api", server));
        var open = Dashboard.open(scope, 0, options -> options.withRoutes("api", server).withMessageContents())) {
      var text = Web.get(dashboard.port(), "/route?panel=api&route=GET%20/broken");

      assertTrue(text.matches(
          "(?s).*\\{\"atWork\":\\[],\"seen\":\\[],\"failures\":\\[\\{\"time\":\"20[-0-9]+T[:.0-9]+Z\",\"status\":502,"
              + "\"type\":\"io.fibry.net.HttpException\",\"stack\":\\[\"[^\"]*PanelsTest.java:.*],"
              + "\"number\":\"[0-9a-f]{8}\"}]}\\s*"),
          text);
      var shownText = Web.get(open.port(), "/route?panel=api&route=GET%20/busy");
      assertTrue(shownText.matches("(?s).*\"status\":503,[^}]*],\"message\":\"for a test\"}]}\\s*"), shownText);
      for (var query : List.of("", "?panel=api&route=GET%20/unknown", "?panel=other&route=GET%20/broken"))
        assertTrue(
            Web.get(dashboard.port(), "/route" + query).endsWith("\n{\"atWork\":[],\"seen\":[],\"failures\":[]}\n"),
            query);
    }
  }

  @Test
  void routeWhoseHandlerIsAtWorkForLongIsStuck() throws Exception {
    var gate = new CountDownLatch(1);
    var server = HttpServer.open(scope.named("web"), 0, HttpRoutes.none().text("GET /slow", exchange -> {
      gate.await();
      return "slow";
    }).stream("GET /events", exchange -> {
      var client = exchange.eventActor();
      client.sendMessage("event");
      client.waitForExit();
    }), options -> options);
    var response = new CompletableFuture<String>();
    Patience.startFiber(() -> Web.get(server.port(), "/slow"), response);
    try (var events = Web.events(server.port());
        var dashboard = Dashboard.open(scope, 0,
            options -> options.withRoutes("api", server).withHandlingLimit(Duration.ofMillis(20)), clock)) {
      events.event(text -> true);
      awaitStatistics(dashboard, "\"GET /slow\",[^}]*\"working\":1,[^}]*\"problems\":\\[\"stuck\"]}");
      awaitStatistics(dashboard, "\"GET /events\",[^}]*\"working\":0,");
      var details = Web.get(dashboard.port(), "/route?panel=api&route=GET%20/slow");
      assertTrue(details.matches("(?s).*\\{\"atWork\":\\[\\{\"connection\":\"web/\\d+\",\"millis\":\\d+,\"time\":\\d+,"
          + "\"stack\":\\[[^]]*PanelsTest.java:[^]]*]}],\"seen\":.*"), details);

      gate.countDown();
      Patience.value(response);
      awaitStatistics(dashboard,
          "\"GET /slow\",[^}]*\"working\":0,[^}]*\"problems\":\\[\"slow\"],\"lastMillisAgo\":\\{\"slow\":\\d+}}");
    }
  }

  /** Takes a snapshot each second of the clock until its text has a part that matches. */
  private void awaitStatistics(Dashboard dashboard, String regex) {
    var pattern = Pattern.compile(regex);
    Patience.eventually(() -> {
      clock.advance(Duration.ofSeconds(1));
      try {
        return pattern.matcher(statistics(dashboard)).find();
      } catch (Exception failure) {
        throw new AssertionError(failure);
      }
    });
  }

  @Test
  void storePanelShowsHealthOfStore(@TempDir Path folder) throws Exception {
    var counter = Durable.kind("counter", String.class).state(0).handler((n, message, context) -> n + 1);
    try (var store = FolderStore.open(folder)) {
      try (var actor = counter.newActor(scope.named("c"), store)) {
        for (int i = 0; i < 3; i++) actor.sendMessage("count");
      }
      Patience.eventually(() -> store.health().turns() == 3 && store.health().pendingWrites() == 0);

      var text = statistics(options -> options.withStore("orders", store));

      assertTrue(text.contains("{\"title\":\"store orders\",\"values\":{\"turns\":3,\"turns per second\":null,"
          + "\"refused turns\":0,\"pending writes\":0,\"pending messages\":0,\"due messages\":0,\"parked messages\":0,\"actors\":1,"),
          text);
      assertTrue(text.matches("(?s).*\"last sync in ms\":[0-9.]+,\"size in MB\":[0-9.]+},\"problems\":\\[]}.*"), text);
    }
  }

  private static FolderStore.Health health(long refused, long parked, boolean isFull, boolean isBroken) {
    return new FolderStore.Health(9, refused, 0, 1, 0, 0, parked, 4096,
        new FolderStore.Syncs(3, Duration.ofMillis(6), Duration.ofMillis(2)), isFull, isBroken, List.of());
  }

  @Test
  void storeThatRefusesOrParksIsProblemForOneMinute() {
    assertEquals(List.of("broken", "full"), StoreSample.first("s", health(7, 7, true, true)).problems());
    var sample = StoreSample.first("s", health(1, 1, false, false));
    assertEquals(List.of(), sample.problems());

    sample = sample.next(health(2, 2, false, false), SECOND);
    for (int second = 0; second < 60; second++) {
      assertEquals(List.of("refusing", "parking"), sample.problems());
      sample = sample.next(health(2, 2, false, false), SECOND);
    }
    assertEquals(List.of(), sample.problems());
    assertEquals(Map.entry("last sync in ms", 2.0), entry(sample.asMap(), "last sync in ms"));
  }

  private static Map.Entry<String, Object> entry(Map<String, Object> panel, String name) {
    return Map.entry(name, ((Map<?, ?>) panel.get("values")).get(name));
  }

  @Test
  void nodePanelShowsHealthUntilNodeHasLeft() throws Exception {
    var cluster = Cluster.join("shop", MemoryNetwork.create(), options -> options.withNode("n1").withPartitions(8)
        .withLease(Duration.ofMinutes(1)));
    try (var dashboard = Dashboard.open(scope, 0, options -> options.withCluster(cluster), clock)) {
      var text = statistics(dashboard);
      assertTrue(text.contains("{\"title\":\"node n1 of shop\",\"values\":{\"lease\":\"valid\",\"connection\":\"open\","
          + "\"members\":1,\"pending requests\":0},\"problems\":[]}"), text);

      cluster.close();
      clock.advance(Duration.ofSeconds(1));

      assertTrue(statistics(dashboard).contains("\"problems\":[\"without lease\",\"disconnected\"]}"));
    }
  }

  @Test
  void nodePanelShowsPartitionsOfEachKind() {
    var health = new Cluster.Health(true, Optional.of("no server"), Map.of("cart", 3), 2);

    assertEquals("{\"title\":\"n\",\"values\":{\"lease\":\"valid\",\"connection\":\"no server\",\"members\":1,"
        + "\"pending requests\":2,\"partitions of cart\":3},\"problems\":[\"disconnected\"]}",
        JsonText.of(NodePanel.map("n", health, 1)));
  }
}
