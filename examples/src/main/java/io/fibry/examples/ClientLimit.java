package io.fibry.examples;

import io.fibry.Handler;
import io.fibry.net.HttpException;
import io.fibry.net.HttpExchange;
import io.fibry.net.HttpRoutes;
import io.fibry.stereotype.Stereotypes;
import java.net.InetAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;

/** A limit for each client of an HTTP server: further requests at the same time get a 429. */
class ClientLimit {
  static Handler.Interceptor<HttpExchange> limitPerClient(int maxAtWork) {
    var atWork = new ConcurrentHashMap<InetAddress, Integer>(); // the running requests of each client
    return (exchange, next) -> {
      var client = exchange.remoteAddress().getAddress();
      try {
        if (atWork.merge(client, 1, Integer::sum) > maxAtWork)
          throw new HttpException(429, "at most " + maxAtWork + " requests at the same time");
        next.run();
      } finally {
        atWork.computeIfPresent(client, (address, count) -> count == 1 ? null : count - 1);
      }
    };
  }

  public static void main(String[] args) {
    var gate = new CountDownLatch(1);
    var routes = HttpRoutes.none().text("/report", exchange -> {
      gate.await();
      return "the report";
    }).intercept(limitPerClient(1));
    try (var server = Stereotypes.fibers().embeddedHttpServer(0, routes); var client = HttpClient.newHttpClient()) {
      var request = HttpRequest.newBuilder(URI.create("http://localhost:" + server.port() + "/report")).build();
      var first = client.sendAsync(request, BodyHandlers.ofString());
      var second = client.sendAsync(request, BodyHandlers.ofString());
      CompletableFuture.anyOf(first, second).thenRun(gate::countDown); // one of the two is refused at once
      var accepted = first.join().statusCode() == 200 ? first : second;
      var refused = accepted == first ? second : first;
      System.out.println(accepted.join().body() + "; " + refused.join().statusCode());
    }
  }
}
