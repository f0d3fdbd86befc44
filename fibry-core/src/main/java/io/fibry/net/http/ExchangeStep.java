package io.fibry.net.http;

import io.fibry.ContextPropagator.HandlerStep;
import io.fibry.ContextPropagator.StepKind;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * An exchange, as context propagators see it. Made only if the server has propagators.
 *
 * @param route null if no route takes the request
 */
record ExchangeStep(RequestHead head, RouteTable.RouteEntry route, TrustedProxies.Origin origin)
    implements HandlerStep {

  @Override
  public StepKind kind() {
    return StepKind.EXCHANGE;
  }

  @Override
  public String name() {
    return route == null ? head.method : head.method + " " + route.pattern().path();
  }

  @Override
  public Map<String, Object> attributes() {
    var attributes = new HashMap<String, Object>();
    attributes.put("http.request.method", head.method);
    attributes.put("url.path", head.target.path());
    attributes.put("url.scheme", origin.scheme());
    if (route != null) attributes.put("http.route", route.pattern().path());
    attributes.put("network.protocol.version", head.isHttp11 ? "1.1" : "1.0");
    attributes.put("client.address", origin.address().getAddress().getHostAddress());
    putHost(head.header("host"), attributes);
    var userAgent = head.header("user-agent");
    if (userAgent != null) attributes.put("user_agent.original", userAgent);
    return attributes;
  }

  /** Adds the name and the port by which the client has called the server. */
  private static void putHost(String host, Map<String, Object> attributes) {
    if (host == null) return; // a request of HTTP/1.0
    int colon = host.indexOf(':', host.indexOf(']') + 1); // the address in brackets has colons, too
    attributes.put("server.address", colon < 0 ? host : host.substring(0, colon));
    if (colon >= 0 && colon + 1 < host.length()) attributes.put("server.port", Long.valueOf(host.substring(colon + 1)));
  }

  @Override
  public Map<String, String> senderTexts() {
    var texts = new TreeMap<String, String>(String.CASE_INSENSITIVE_ORDER);
    head.headers().forEach((name, values) -> texts.put(name, String.join(",", values)));
    return texts;
  }
}
