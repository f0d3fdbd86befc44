package io.fibry.examples;

import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.durable.Durable;
import io.fibry.durable.Idempotent;
import io.fibry.examples.files.Folder;
import io.fibry.net.HttpException;
import io.fibry.net.HttpRoutes;
import io.fibry.stereotype.Stereotypes;
import io.fibry.store.folder.FolderStore;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;

/** An order that is sent again is handled once, even after a restart; another order gets a 422. */
class OrderOnce {
  record Order(String idempotencyKey, String item) implements Idempotent, Request<Order, Sale> {}

  record Sale(int number, String item) {} // has the item, so that a repetition can be compared with it

  static final Durable<Order> SHOP = Durable.kind("shop", Order.class).state(0).handler((orders, order, context) -> {
    // the actor remembers this answer by the order's key: by default the last 1,000 answers, each
    // for at most a day
    context.reply(order, new Sale(orders + 1, order.item()));
    return orders + 1;
  });

  public static void main(String[] args) throws Exception {
    try (var folder = Folder.of(args)) {
      serve(folder.path(), "key-1 hat", "key-1 hat", "key-2 shoes");
      System.out.println("the server is started again");
      serve(folder.path(), "key-1 hat", "key-1 scarf", "key-3 scarf");
    }
  }

  /** Runs a server, and a client that posts these orders to it. */
  private static void serve(Path folder, String... orders) throws Exception {
    try (var store = FolderStore.open(folder);
        var shop = SHOP.newActor(ActorSystem.named("shop"), store);
        var server = Stereotypes.fibers().embeddedHttpServer(0, HttpRoutes.none().text("/order", exchange -> {
          var order = exchange.bodyAsText().split(" ");
          var sale = shop.ask(new Order(order[0], order[1]));
          if (!sale.item().equals(order[1])) throw new HttpException(422, order[0] + " is the key of another order");
          return "order " + sale.number();
        }));
        var client = HttpClient.newHttpClient()) {
      for (var order : orders) {
        var request = HttpRequest.newBuilder(URI.create("http://localhost:" + server.port() + "/order"))
            .POST(BodyPublishers.ofString(order)).build();
        System.out.println(order + ": " + client.send(request, BodyHandlers.ofString()).body().strip());
      }
    }
  }
}
