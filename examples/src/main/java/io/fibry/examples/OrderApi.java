package io.fibry.examples;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.net.ErrorBody;
import io.fibry.net.HttpException;
import io.fibry.net.HttpExchange;
import io.fibry.net.HttpRoutes;
import io.fibry.net.HttpServer;
import io.fibry.stereotype.Stereotypes;
import java.net.HttpURLConnection;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;

/** An HTTP API with users, a part for administrators, errors in JSON, and a time limit. */
class OrderApi {
  record User(String name, boolean isAdmin) {}
  private static final Map<String, User> USERS =
      Map.of("Bearer ada-token", new User("ada", false), "Bearer bob-token", new User("bob", true));

  static HttpRoutes routes(ActorScope scope) {
    var orders = Stereotypes.of(scope.named("orders")).sink(new ArrayList<String>());
    var admin = HttpRoutes.none().text("GET /count", exchange -> orders.ask(list -> list.size()) + " orders")
        .intercept((exchange, next) -> {
          if (!user(exchange).isAdmin()) throw new HttpException(403, "only administrators may do this");
          next.run();
        });
    return HttpRoutes.none().text("POST /orders", exchange -> {
      var order = exchange.bodyAsText() + " for " + user(exchange).name();
      int number = orders.ask(list -> list.add(order) ? list.size() - 1 : -1);
      exchange.status(201).header("Location", "/orders/" + number);
      return "order " + number;
    }).text("GET /orders/{number}", exchange -> {
      int number = Integer.parseUnsignedInt(exchange.path("number"));
      return orders.ask(list -> list.stream().skip(number).findFirst()).orElseThrow();
    }).mount("/admin", admin).intercept((exchange, next) -> {
      var user = Optional.ofNullable(USERS.get(exchange.header("Authorization").orElse("")));
      if (user.isEmpty()) exchange.header("WWW-Authenticate", "Bearer");
      exchange.attribute(User.class, user.orElseThrow(() -> new HttpException(401, "who are you?")));
      next.run();
    }).onFailure(NoSuchElementException.class, 404).withTimeLimit(Duration.ofSeconds(2))
        .onFailure(NumberFormatException.class, 400, failure -> "no number").withErrorBody(ErrorBody.problemDetails());
  }

  private static User user(HttpExchange exchange) {
    return exchange.attribute(User.class).orElseThrow();
  }

  public static void main(String[] args) throws Exception {
    try (var scope = ActorSystem.openScope("shop");
        var server = HttpServer.open(scope.named("web"), 0, routes(scope), o -> o)) {
      var order = URI.create("http://localhost:" + server.port() + "/orders/7").toURL();
      System.out.println(((HttpURLConnection) order.openConnection()).getResponseMessage());
    }
  }
}
