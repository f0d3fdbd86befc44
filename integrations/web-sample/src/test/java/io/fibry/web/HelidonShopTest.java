package io.fibry.web;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.ActorScope;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

class HelidonShopTest extends WebServerContract {
  @Override
  RunningShop open(Warehouse warehouse, UnaryOperator<ActorScope.Options> options) {
    return HelidonShop.open(warehouse, options, 0);
  }

  @Test
  void orderIsAnsweredOverHttp2() throws Exception {
    try (var http2Client = HttpClient.newHttpClient()) {
      // a request without a body asks the server to change to HTTP/2
      http2Client.send(HttpRequest.newBuilder(address("/")).build(), BodyHandlers.discarding());

      var order = HttpRequest.newBuilder(address("/orders")).POST(BodyPublishers.ofString("hat")).build();
      var response = http2Client.send(order, BodyHandlers.ofString());

      assertEquals("HTTP_2: ordered hat", response.version() + ": " + response.body());
    }
  }
}
