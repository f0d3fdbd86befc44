package io.fibry.micrometer;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.support.Patience;
import io.fibry.test.TestScope;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;

/** Tests that the service of the README publishes the meters of its carts and routes. */
class OrderServiceTest {

  @Test
  void serviceOfReadmePublishesMetersOfCartsAndRoutes() throws Exception {
    try (var shop = TestScope.open("shop", options -> options);
        var server = OrderService.open(shop, 0, new PrometheusMeterRegistry(PrometheusConfig.DEFAULT));
        var client = HttpClient.newHttpClient()) {
      var address = "http://localhost:" + server.port();
      for (var customer : List.of("ada", "bob", "ada"))
        client.send(HttpRequest.newBuilder(URI.create(address + "/carts/" + customer))
            .POST(BodyPublishers.ofString("hat")).build(), BodyHandlers.discarding());

      for (var sample : List.of("fibry_actor_handled_total{actor=\"cart/*\",scope=\"shop\"} 3.0",
          "fibry_actor_living{actor=\"cart/*\",scope=\"shop\"} 2.0",
          "fibry_http_responses_total{method=\"POST\","
              + "outcome=\"SUCCESS\",server=\"web\",uri=\"/carts/{customer}\"} 3.0"))
        Patience.eventually("no " + sample, () -> metrics(client, address).lines().anyMatch(sample::equals));
    }
  }

  private static String metrics(HttpClient client, String address) {
    try {
      var response = client.send(HttpRequest.newBuilder(URI.create(address + "/metrics")).build(),
          BodyHandlers.ofString());
      assertEquals("text/plain; charset=utf-8",
          response.headers().firstValue("content-type").orElse("").toLowerCase(Locale.ROOT));
      return response.body();
    } catch (IOException | InterruptedException failure) {
      throw new IllegalStateException(failure);
    }
  }
}
