package io.fibry.dashboard;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.ActorWithReturn;
import io.fibry.FailurePolicy;
import io.fibry.Strategy;
import io.fibry.cluster.Cluster;
import io.fibry.cluster.MemoryNetwork;
import io.fibry.durable.Durable;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.net.HttpException;
import io.fibry.net.HttpRoutes;
import io.fibry.net.HttpServer;
import io.fibry.pool.Pools;
import io.fibry.pubsub.Topic;
import io.fibry.store.folder.FolderStore;
import io.fibry.time.Scheduler;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A simulated shop with idle actors, a backlog, a pool, failures, and a wait cycle. It also has a
 * web server with visitors, a store, and a node of a cluster.
 */
final class DemoShop implements AutoCloseable {
  private record Order(int number, String item) {}

  private record Reminder(int order) {}

  private record Discount(int order) {}

  private static final class CardRefused extends RuntimeException {
    private static final long serialVersionUID = 1;

    CardRefused(int order) {
      super("the card of order " + order + " was refused");
    }
  }

  private record Visit(String page) {}

  private static final Durable<String> CUSTOMER =
      Durable.kind("customer", String.class).state(0).handler((visits, page, context) -> visits + 1);

  private final ActorScope scope = ActorSystem.openScope("shop");
  private final Random random = new Random(7); // guarded by itself
  private final FolderStore store = FolderStore.open(temporaryFolder());
  private final Cluster cluster = Cluster.join("shop", MemoryNetwork.create(), options -> options.withNode("n1"));
  private final Topic<Order> sold = Topic.open(scope.named("sold"));
  private final HttpClient visitors = HttpClient.newHttpClient();
  private final HttpServer server;

  DemoShop() {
    var customers = CUSTOMER.entities(ActorSystem.anonymous(), store, Duration.ofMinutes(1));
    cluster.host("cart", Visit.class, ActorSystem.anonymous(), Duration.ofMinutes(1),
        (builder, key) -> builder.newActor((Visit visit) -> {}));
    server = HttpServer.open(scope.named("web"), 0, HttpRoutes.none()
        .text("GET /items/{item}", exchange -> {
          work(1, 9);
          return exchange.path("item");
        }).text("POST /orders", exchange -> {
          work(20, 70);
          customers.actor("customer-" + randomNumber(40)).sendMessage("order");
          if (chance(0.04)) throw new HttpException(502, "the bank does not respond");
          return "ordered";
        }).text("GET /report", exchange -> {
          work(1_100, 2_200);
          return "report";
        }).text("GET /stock", exchange -> {
          if (chance(0.02)) throw new HttpException(503, "the stock is being counted");
          return "100";
        }), options -> options);
  }

  private static Path temporaryFolder() {
    try {
      return Files.createTempDirectory("shop");
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** Adds panels for the routes, the store and the node. */
  DashboardOptions withPanels(DashboardOptions options) {
    return options.withRoutes("web", server).withTopic(sold).withStore("customers", store).withCluster(cluster);
  }

  /** Creates the actors, beginning with the last actor that an order reaches. */
  void open() {
    var warehouse = scope.openScope("warehouse");
    var checkout = scope.openScope("checkout");
    var office = scope.openScope("office");

    var carrier = warehouse.named("carrier").newActor((Order order) -> work(3, 9));
    var packing = warehouse.named("packing").strategy(Strategy.THREAD).newActor((Order order) -> {
      work(26, 44);
      carrier.sendMessage(order);
    });
    var picking = Pools.fixed(warehouse.named("picking"), 4).newActor((Order order) -> {
      work(60, 140);
      packing.sendMessage(order);
    });
    var stock =
        warehouse.named("stock").initialState(() -> 100).newActorWithReturn((Integer pieces, Order order) -> {
          if (order.number % 400 == 399) work(1_500, 2_500); // counts the items on the shelves
          return pieces > 0;
        });

    var mail = office.named("mail").mailbox(Mailbox.bounded(50, Overflow.DROP_OLDEST))
        .newActor((Reminder reminder) -> work(60, 90));
    sold.subscribeToLatest(order -> work(1, 3));
    sold.subscribe(Mailbox.bounded(8, Overflow.DROP_OLDEST), order -> work(60, 90));
    var ledger = office.named("ledger").strategy(Strategy.RESIDENT_FIBER).newActor((Order order) -> work(1, 3));
    openWaitCycle(office);

    var invoices = checkout.named("invoices").newActor((Order order) -> {
      ledger.sendMessage(order);
      if (chance(0.4)) mail.sendMessage(new Reminder(order.number));
    });
    var payments =
        checkout.named("payments").onFailure(FailurePolicy.restart().withoutLog()).newActor((Order order) -> {
          work(8, 16);
          if (chance(0.03)) throw new CardRefused(order.number);
          invoices.sendMessage(order);
          sold.publish(order);
          picking.sendMessage(order);
        });
    var cart = checkout.named("cart").newActor((Order order) -> {
      if (stock.ask(order)) payments.sendMessage(order);
    });
    checkout.named("fraud check").newActor((Order order) -> {});
    letCustomersIn(cart);
    letVisitorsIn();
  }

  /** Sends requests to the web server, and to the node. */
  private void letVisitorsIn() {
    var carts = cluster.entities("cart", Visit.class);
    var paths = new String[] {"GET /items/hat", "GET /items/coat", "GET /stock", "POST /orders", "GET /unknown",
      "GET /report"};
    scope.named("visitors").newActor((String tick) -> {
      var parts = paths[chance(0.01) ? 4 : chance(0.05) ? 5 : randomNumber(4)].split(" ");
      visitors.sendAsync(HttpRequest.newBuilder(URI.create("http://localhost:" + server.port() + parts[1]))
          .method(parts[0], BodyPublishers.noBody()).build(), BodyHandlers.discarding());
      carts.actor("cart-" + randomNumber(100)).sendMessage(new Visit(parts[1]));
    }).sendMessageEvery("tick", Duration.ofMillis(50));
  }

  /** Creates an actor that sends orders in bursts. */
  private void letCustomersIn(Actor<Order> cart) {
    var items = new String[] {"hat", "shoes", "coat", "gloves"};
    var customers = scope.named("customers").initialState(() -> new int[1]).newActor((int[] number, String tick) -> {
      double wave = 1 + Math.sin(number[0] / 160.0) * 0.6 + Math.sin(number[0] / 37.0) * 0.25;
      for (int i = 0; i < 2; i++) if (chance(wave / 2)) cart.sendMessage(new Order(number[0], items[number[0] % 4]));
      number[0]++;
    });
    customers.sendMessageEvery("tick", Duration.ofMillis(40));
  }

  /** Creates two actors that ask each other, so that each request ends in a wait cycle. */
  private static void openWaitCycle(ActorScope office) {
    var prices = new AtomicReference<ActorWithReturn<Discount, Integer>>();
    var discounts =
        office.named("discounts").onFailure(FailurePolicy.resume().withoutLog())
            .newActorWithReturn((Discount discount) -> prices.get().ask(discount) / 10);
    prices.set(office.named("prices").onFailure(FailurePolicy.resume().withoutLog())
        .newActorWithReturn((Discount discount) -> discounts.ask(discount) + 100));
    prices.get().sendMessageEvery(new Discount(12), Duration.ofSeconds(9));
  }

  private boolean chance(double probability) {
    synchronized (random) {
      return random.nextDouble() < probability;
    }
  }

  private int randomNumber(int bound) {
    synchronized (random) {
      return random.nextInt(bound);
    }
  }

  private void work(int minMillis, int maxMillis) throws InterruptedException {
    int millis;
    synchronized (random) {
      millis = random.nextInt(minMillis, maxMillis);
    }
    Scheduler.system().sleep(Duration.ofMillis(millis));
  }

  ActorScope scope() {
    return scope;
  }

  @Override
  public void close() {
    visitors.shutdownNow();
    scope.closeWithin(Duration.ZERO);
    cluster.close();
    store.close();
  }
}
