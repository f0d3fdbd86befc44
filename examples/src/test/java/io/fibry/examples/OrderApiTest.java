package io.fibry.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.net.HttpRoutes;
import io.fibry.test.FibryExtension;
import io.fibry.test.TestScope;
import io.fibry.test.TestServer;
import io.fibry.test.TestServer.TestRequest;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Shows how to test an HTTP API without a port. */
@ExtendWith(FibryExtension.class)
class OrderApiTest {
  private TestServer web;

  @BeforeEach
  void openServer(TestScope scope) {
    web = TestServer.open(scope, OrderApi.routes(scope));
  }

  private TestServer.TestResponse send(String user, String methodAndPath, String body) {
    return web.send(TestRequest.of(methodAndPath).header("Authorization", "Bearer " + user + "-token").body(body));
  }

  @Test
  void otherUserFindsPlacedOrderAtItsLocation() {
    var placed = send("ada", "POST /orders", "tea");

    assertEquals("201 order 0", placed.toString());
    assertEquals("200 tea for ada", send("bob", "GET " + placed.header("Location").orElseThrow(), "").toString());
  }

  @Test
  void onlyAdministratorMayCountOrders() {
    assertEquals("200 0 orders", send("bob", "GET /admin/count", "").toString());
    assertEquals(403, send("ada", "GET /admin/count", "").status());
  }

  @Test
  void errorResponsesHaveProblemDetailsBody() {
    for (var path : new String[] {"/orders/7", "/orders/first", "/nowhere"}) {
      var error = send("ada", "GET " + path, "");

      assertEquals(path.equals("/orders/first") ? 400 : 404, error.status());
      assertEquals(Optional.of("application/problem+json"), error.header("Content-Type"));
    }
    var unknown = send("eve", "GET /orders/1", "");
    assertEquals("401 Bearer", unknown.status() + " " + unknown.header("WWW-Authenticate").orElseThrow());
  }

  @Test
  void eleventhRequestOfClientAtSameTimeIsRefused(TestScope scope) {
    var gate = new CountDownLatch(1);
    var slow = TestServer.open(scope, HttpRoutes.none().text("GET /", exchange -> {
      gate.await();
      return "done";
    }).intercept(OrderApi.limitOfClient()));
    var responses = Stream.generate(() -> slow.sendLater(TestRequest.of("GET /"))).limit(11).toList();

    CompletableFuture.anyOf(responses.toArray(CompletableFuture[]::new)).join();
    assertEquals(List.of(429), responses.stream().filter(Future::isDone).map(r -> r.join().status()).toList());
    gate.countDown();
    assertEquals(10, responses.stream().filter(response -> response.join().status() == 200).count());
    assertEquals(200, slow.send(TestRequest.of("GET /")).status());
  }
}
