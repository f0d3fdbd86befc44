package io.fibry.examples;

import io.fibry.ActorSystem;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.net.HttpRoutes;
import io.fibry.pubsub.Topic;
import io.fibry.stereotype.Stereotypes;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** HTTP requests go to an actor, and browsers get its news as server-sent events. */
class HttpToActor {
  public static void main(String[] args) throws Exception {
    Topic<String> news = Topic.open(ActorSystem.named("news"));
    var shop = ActorSystem.named("shop").mailbox(Mailbox.bounded(200, Overflow.REJECT))
        .initialState(ArrayList<String>::new).newActorWithReturn((ArrayList<String> orders, String item) -> {
          orders.add(item);
          news.publish("sold: " + item);
          return orders.size();
        });
    var hasSubscribed = new CountDownLatch(1);
    var routes = HttpRoutes.none()
        // 503 if the mailbox is full, 504 if the answer is late
        .text("/order", exchange -> "order " + shop.ask(exchange.bodyAsText()))
        .stream("/news", exchange -> {
          var browser = exchange.eventActor();
          news.subscribe(browser); // until the browser disconnects
          hasSubscribed.countDown();
          browser.waitForExit();
        });

    try (var server = Stereotypes.fibers().embeddedHttpServer(0, routes).closeOnExit(news, shop);
        var client = HttpClient.newHttpClient()) {
      var address = "http://localhost:" + server.port();
      var events =
          client.sendAsync(HttpRequest.newBuilder(URI.create(address + "/news")).build(), BodyHandlers.ofLines());
      hasSubscribed.await();
      for (var item : List.of("hat", "shoes")) {
        var order = HttpRequest.newBuilder(URI.create(address + "/order"))
            .POST(HttpRequest.BodyPublishers.ofString(item)).build();
        System.out.println(client.send(order, BodyHandlers.ofString()).body());
      }
      server.sendPoisonPill(); // also ends the stream of events
      events.join().body().filter(line -> !line.isEmpty()).forEach(System.out::println);
    }
  }
}
