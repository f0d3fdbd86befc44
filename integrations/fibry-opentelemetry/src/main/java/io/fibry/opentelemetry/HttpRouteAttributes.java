package io.fibry.opentelemetry;

import io.opentelemetry.api.common.Attributes;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The attributes of a server's exchanges, by the semantic conventions for HTTP. There are few
 * routes and statuses, so their attributes are made once. Thread-safe.
 */
final class HttpRouteAttributes {
  private static final int FIRST_ERROR = 500;

  private final Attributes ofServer;
  private final Map<String, Attributes> byRoute = new ConcurrentHashMap<>();
  private final Map<Response, Attributes> byResponse = new ConcurrentHashMap<>();

  private record Response(String route, int status) {}

  HttpRouteAttributes(Attributes ofServer) {
    this.ofServer = ofServer;
  }

  /** Returns the attributes of a route such as {@code GET /orders}; it is empty without a route. */
  Attributes of(String route) {
    return byRoute.computeIfAbsent(route, unused -> {
      var attributes = ofServer.toBuilder();
      int pathStart = route.indexOf(' ') + 1;
      if (pathStart > 0) attributes.put("http.request.method", route.substring(0, pathStart - 1));
      if (!route.isEmpty()) attributes.put("http.route", route.substring(pathStart));
      return attributes.build();
    });
  }

  Attributes of(String route, int status) {
    return byResponse.computeIfAbsent(new Response(route, status), unused -> {
      var attributes = of(route).toBuilder().put("http.response.status_code", status);
      if (status >= FIRST_ERROR) attributes.put("error.type", Integer.toString(status));
      return attributes.build();
    });
  }
}
