package io.fibry.web;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.support.Child;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the program as a user runs it, and its end by SIGTERM. */
class MainTest {
  private static final int ENDED_BY_SIGTERM = 128 + 15;

  @ParameterizedTest
  @ValueSource(strings = {"helidon", "javalin", "spring"})
  void terminatedProcessClosesItsShop(String server) throws Exception {
    try (var process = Child.java(List.of(), Main.class, server, "0"); var client = HttpClient.newHttpClient()) {
      var news = process.awaitLine(line -> line.startsWith("http://localhost:"));
      var order = HttpRequest.newBuilder(URI.create(news.replace("/news", "/orders")))
          .POST(BodyPublishers.ofString("hat")).build();
      assertEquals("ordered hat", client.send(order, BodyHandlers.ofString()).body());

      process.terminate();

      var output = process.awaitExit(ENDED_BY_SIGTERM);
      assertTrue(output.endsWith("1 handled of 1"), output);
    }
  }
}
