package io.fibry.opentelemetry;

import io.fibry.net.HttpServer.EndedExchange;
import io.fibry.net.HttpServer.Outcome;
import io.opentelemetry.api.common.Attributes;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The attributes of a server's exchanges, and the buckets of their durations, by the semantic
 * conventions for HTTP. There are few routes, methods and statuses, so their attributes are made
 * once. Thread-safe.
 */
final class HttpRouteAttributes {
  /** The bounds of the buckets, in seconds. */
  static final List<Double> BOUNDS =
      List.of(0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0);
  // clients can send any method, so each other method counts as "_OTHER"
  private static final Set<String> METHODS =
      Set.of("GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH");
  private static final String METHOD = "http.request.method";
  private static final int FIRST_ERROR = 500;

  private final Attributes ofServer;
  private final Map<String, Attributes> byRoute = new ConcurrentHashMap<>();
  private final Map<Response, Attributes> byResponse = new ConcurrentHashMap<>();
  private final Map<RouteOutcome, Attributes> byOutcome = new ConcurrentHashMap<>();

  private record RouteOutcome(String route, Outcome outcome) {}

  private record Response(String route, String method, String scheme, int status) {}

  HttpRouteAttributes(Attributes ofServer) {
    this.ofServer = ofServer;
  }

  /** Returns the attributes of a route such as {@code GET /orders}; it is empty without a route. */
  Attributes of(String route) {
    return byRoute.computeIfAbsent(route, unused -> {
      var attributes = ofServer.toBuilder();
      int pathStart = route.indexOf(' ') + 1;
      if (pathStart > 0) attributes.put(METHOD, route.substring(0, pathStart - 1));
      if (!route.isEmpty()) attributes.put("http.route", route.substring(pathStart));
      return attributes.build();
    });
  }

  /** Returns the attributes of a route with this outcome. */
  Attributes of(String route, Outcome outcome) {
    return byOutcome.computeIfAbsent(new RouteOutcome(route, outcome),
        unused -> of(route).toBuilder().put("outcome", outcome.name()).build());
  }

  Attributes of(EndedExchange exchange) {
    var method = METHODS.contains(exchange.method()) ? exchange.method() : "_OTHER";
    var response = new Response(exchange.route(), method, exchange.scheme(), exchange.status());
    return byResponse.computeIfAbsent(response, unused -> {
      int status = exchange.status();
      var attributes = of(exchange.route()).toBuilder().put(METHOD, method)
          .put("url.scheme", exchange.scheme()).put("http.response.status_code", status);
      if (status >= FIRST_ERROR) attributes.put("error.type", Integer.toString(status));
      return attributes.build();
    });
  }
}
