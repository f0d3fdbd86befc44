package io.fibry.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.test.FibryExtension;
import io.fibry.test.TestScope;
import io.fibry.test.TestServer;
import io.fibry.test.TestServer.TestRequest;
import java.util.Optional;
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
}
