package io.fibry.micrometer;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.net.HttpRoutes;
import io.fibry.net.HttpServer;
import io.fibry.pool.Entities;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Duration;
import java.util.ArrayList;

/** The service of the README, which {@link OrderServiceTest} calls. */
// @start region="service"
class OrderService {
  public static void main(String[] args) {
    var registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    var timers = new MessageMeters("shop");
    timers.bindTo(registry);
    try (var shop = ActorSystem.openScope("shop", options -> options.withContextPropagator(timers))) {
      open(shop, 8080, registry).waitForExit();
    }
  }

  static HttpServer open(ActorScope shop, int port, PrometheusMeterRegistry registry) {
    var carts = Entities.openWithReturn(shop.named("cart"), Duration.ofMinutes(10),
        (builder, customer) -> builder.initialState(ArrayList<String>::new)
            .newActorWithReturn((ArrayList<String> items, String item) -> {
              items.add(item);
              return items.toString();
            }));
    var routes = HttpRoutes.none()
        .text("POST /carts/{customer}", e -> carts.actor(e.path("customer")).ask(e.bodyAsText()))
        .text("GET /metrics", e -> registry.scrape());
    var server = HttpServer.open(shop.named("web"), port, routes, options -> options);
    new ScopeMeters(shop).bindTo(registry);
    new ActorMeters(shop, "cart/*", "*").bindTo(registry); // the carts of all customers, and all other actors
    new RouteMeters("web", server).bindTo(registry);
    new SchedulerMeters().bindTo(registry);
    return server;
  }
}
// @end
