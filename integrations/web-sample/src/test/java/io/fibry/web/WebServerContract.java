package io.fibry.web;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.fibry.ActorScope;
import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Tests the shop behind one server. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class WebServerContract {
  private final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final ManualScheduler clock = new ManualScheduler();
  private final HeldWarehouse warehouse = new HeldWarehouse();
  private RunningShop shop; // shared by the tests

  abstract RunningShop open(Warehouse newWarehouse, UnaryOperator<ActorScope.Options> options);

  final URI address(String path) {
    return URI.create("http://localhost:" + shop.port() + path);
  }

  /** Opens a shop whose server soon cuts off a client that does not read. */
  RunningShop openImpatient(Warehouse impatientWarehouse, UnaryOperator<ActorScope.Options> options) {
    return open(impatientWarehouse, options);
  }

  @BeforeAll
  void open() {
    shop = open(warehouse, o -> o.withScheduler(clock));
  }

  /** Waits until no client of the test is subscribed. A ping finds out that it has disconnected. */
  @AfterEach
  void forgetClients() {
    warehouse.open();
    awaitNoSubscriber(shop, Shop.PING_PERIOD);
  }

  @AfterAll
  void close() {
    client.close();
    shop.close();
  }

  /** Moves the clock step by step until no client is subscribed. */
  private void awaitNoSubscriber(RunningShop openShop, Duration step) {
    Patience.eventually("a subscriber does not end", () -> {
      clock.advance(step);
      return openShop.shop().subscriberCount() == 0;
    });
  }

  private static void awaitSubscribers(RunningShop openShop, int count) {
    Patience.eventually("not the expected number of subscribers", () -> openShop.shop().subscriberCount() == count);
  }

  private static void awaitQueued(RunningShop openShop, int count) {
    Patience.eventually("not the expected number of orders", () -> openShop.shop().report().queued() == count);
  }

  private CompletableFuture<HttpResponse<String>> order(RunningShop openShop, String item) {
    var request = HttpRequest.newBuilder(URI.create("http://localhost:" + openShop.port() + "/orders"))
        .POST(BodyPublishers.ofString(item)).build();
    return client.sendAsync(request, BodyHandlers.ofString());
  }

  /** Opens a connection, and sends a request for the news. */
  private static Socket connect(int port) throws IOException {
    var socket = new Socket();
    socket.setReceiveBufferSize(4_096);
    socket.connect(new InetSocketAddress(InetAddress.getByName("localhost"), port));
    socket.getOutputStream().write("GET /news HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n"
        .getBytes(StandardCharsets.US_ASCII));
    return socket;
  }

  @Test
  void orderIsAnswered() {
    var response = Patience.value(order(shop, "hat"));

    assertEquals("200 ordered hat", response.statusCode() + " " + response.body());
  }

  @Test
  void refusedOrderGets503AndAcceptedOrdersAreAnswered() {
    warehouse.hold();
    var accepted = new ArrayList<CompletableFuture<HttpResponse<String>>>();
    for (int i = 0; i <= Shop.MAX_QUEUED; i++) accepted.add(order(shop, "hat"));
    warehouse.awaitClerk();
    awaitQueued(shop, Shop.MAX_QUEUED);

    var refusal = Patience.value(order(shop, "hat"));

    assertEquals(503, refusal.statusCode());
    assertEquals(Optional.of("1"), refusal.headers().firstValue("Retry-After"));
    assertFalse(refusal.body().contains("clerk"), refusal::body);
    warehouse.open();
    assertEquals(List.of(200),
        accepted.stream().map(response -> Patience.value(response).statusCode()).distinct().toList());
  }

  @Test
  void lateOrderGets504() {
    warehouse.hold();
    var late = order(shop, "hat");
    warehouse.awaitClerk();

    Patience.eventually("no response", () -> {
      clock.advance(Duration.ofMinutes(1));
      return late.isDone();
    });

    var response = Patience.value(late);
    assertEquals(504, response.statusCode());
    assertFalse(response.body().contains("clerk"), response::body);
  }

  @Test
  void failedOrderGets500WithoutTextOfException() {
    var response = Patience.value(order(shop, HeldWarehouse.BROKEN));

    assertEquals(500, response.statusCode());
    assertFalse(response.body().contains("secret"), response::body);
  }

  @Test
  void newsReachEventStreamAndWebSocketInOrder() throws Exception {
    try (var stream = new EventStream(shop.port()); var socket = new NewsSocketClient(shop.port())) {
      awaitSubscribers(shop, 2);
      for (var item : List.of("hat", "shoes", "scarf")) shop.shop().order(item);

      for (var expected : List.of("sold: hat", "sold: shoes", "sold: scarf")) {
        assertEquals(expected, stream.next());
        assertEquals(expected, socket.next());
      }
      socket.sayGoodbye();
      awaitSubscribers(shop, 1);
    }
  }

  @Test
  void subscribersOfVanishedClientsEnd() throws Exception {
    try (var socket = new NewsSocketClient(shop.port()); var connection = connect(shop.port())) {
      awaitSubscribers(shop, 2);
      socket.abort();
      connection.setSoLinger(true, 0); // so that the close is a reset
    }

    awaitNoSubscriber(shop, Shop.PING_PERIOD);
  }

  /** The news are larger than all buffers between the server and the client. */
  @Test
  void clientThatDoesNotReadIsCutOffAndDelaysNoOther() throws Exception {
    int count = 200;
    var item = "x".repeat(100_000);
    try (var impatientShop = openImpatient(warehouse, o -> o.withScheduler(clock));
        var silent = connect(impatientShop.port())) {
      try (var stream = new EventStream(impatientShop.port())) {
        awaitSubscribers(impatientShop, 2);

        for (int i = 0; i < count; i++) impatientShop.shop().order(item);

        for (int i = 0; i < count; i++) assertEquals("sold: ".length() + item.length(), stream.next().length());
      }
      awaitNoSubscriber(impatientShop, Shop.WRITE_LIMIT);
      Patience.value(CompletableFuture.runAsync(() -> readUntilEnd(silent), Thread::startVirtualThread));
    }
  }

  private static void readUntilEnd(Socket socket) {
    try {
      socket.getInputStream().transferTo(OutputStream.nullOutputStream());
    } catch (IOException cutOff) {
      // The server has reset the connection.
    }
  }

  @Test
  void closingShopAnswersAcceptedOrdersAndEndsNews() throws Exception {
    var closingShop = open(warehouse, o -> o.withScheduler(clock));
    try (var stream = new EventStream(closingShop.port()); var socket = new NewsSocketClient(closingShop.port())) {
      awaitSubscribers(closingShop, 2);
      closingShop.shop().order("hat");
      warehouse.hold();
      var accepted = List.of(order(closingShop, "shoes"), order(closingShop, "scarf"));
      warehouse.awaitClerk();
      awaitQueued(closingShop, 1);

      var closing = CompletableFuture.runAsync(closingShop::close, Thread::startVirtualThread);

      assertEquals("sold: hat", stream.next());
      stream.awaitEnd();
      assertEquals("sold: hat", socket.next());
      assertEquals(1001, socket.awaitClose());
      Patience.eventually("the server still accepts connections", () -> !acceptsConnection(closingShop.port()));
      assertFalse(closing.isDone());
      warehouse.open();
      assertEquals(List.of("200 ordered scarf", "200 ordered shoes"), accepted.stream().map(Patience::value)
          .map(response -> response.statusCode() + " " + response.body()).sorted().toList());
      Patience.value(closing);
    }
    var report = closingShop.shop().report();
    assertEquals(report.sent(), report.handled(), report::toString);
  }

  private static boolean acceptsConnection(int port) {
    try (var socket = new Socket(InetAddress.getByName("localhost"), port)) {
      return socket.isConnected();
    } catch (IOException refused) {
      return false;
    }
  }
}
