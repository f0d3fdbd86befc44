package io.fibry.net.websocket;

import io.fibry.Handler;
import io.fibry.net.WebSocketConnection;
import io.fibry.net.http.HttpStatus;
import io.fibry.net.http.ServerExchange;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.stream.Stream;

/** Checks a request for a WebSocket, and responds to it. */
public record WebSocketHandshake(ServerExchange exchange, WebSocketSettings settings) {
  private static final String VERSION = "13";
  // appended to the client's key, by RFC 6455
  private static final String KEY_SUFFIX = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  private static final int KEY_BYTES = 16;

  /** Accepts the request and runs the handler, or refuses the request. */
  public static void handle(ServerExchange exchange, WebSocketSettings settings, Handler<WebSocketConnection> handler)
      throws IOException {
    new WebSocketHandshake(exchange, settings).handle(handler);
  }

  private void handle(Handler<WebSocketConnection> handler) throws IOException {
    if (!exchange.head.isHttp11 || !hasToken("upgrade", "websocket") || !hasToken("connection", "upgrade"))
      refuse(426, "this path is a WebSocket; send HTTP/1.1 with the headers of an upgrade", "Upgrade", "websocket",
          "Connection", "Upgrade", "Sec-WebSocket-Version", VERSION);
    else if (!header("sec-websocket-version").equals(VERSION))
      refuse(426, "only version " + VERSION + " of WebSocket is spoken", "Upgrade", "websocket", "Connection",
          "Upgrade", "Sec-WebSocket-Version", VERSION);
    else if (!isKey(header("sec-websocket-key"))) refuse(400, "the Sec-WebSocket-Key is not 16 bytes in Base64");
    else if (exchange.head.bodyLength != 0) refuse(400, "a request for a WebSocket cannot have a body");
    else if (!isOriginAllowed()) {
      refuse(403, "pages of this origin may not connect");
      exchange.failureLog.logForeignOrigin(exchange, settings.origins().isPresent()
          ? "add the origin to withOrigins(..), which must also have the server's own pages"
          : "allow it by withOrigins(..), or name the server's hosts by withHosts(..); name a proxy that decrypts "
              + "TLS by withProxies(..)");
    } else accept(handler);
  }

  private void refuse(int code, String text, String... headers) {
    exchange.response.setServerError(code, HttpStatus.codeAndReason(code) + ": " + text + "\n", headers);
  }

  private void accept(Handler<WebSocketConnection> handler) throws IOException {
    var subprotocol = tokens("sec-websocket-protocol").filter(settings.subprotocols()::contains).findFirst();
    var upgradeHeaders = new ArrayList<>(List.of("Upgrade", "websocket", "Connection", "Upgrade",
        "Sec-WebSocket-Accept", acceptHeader(header("sec-websocket-key"))));
    subprotocol.ifPresent(name -> upgradeHeaders.addAll(List.of("Sec-WebSocket-Protocol", name)));
    exchange.response.requireNotBegun("an upgrade");
    var webSocket = new ServerWebSocket(exchange, settings, subprotocol);
    exchange.response.releasePermit(); // the conversation may last for hours
    exchange.body.in.permit = null;
    exchange.endTimeLimit();
    exchange.response.upgrade(upgradeHeaders);
    exchange.socket.step.end(); // the following steps are the messages of the WebSocket
    exchange.socket.step.beginUncounted(exchange); // until the first message
    webSocket.converse(handler);
  }

  /** Returns the value of a header; empty if the request has no such header. */
  private String header(String lowerCaseName) {
    var value = exchange.head.header(lowerCaseName);
    return value == null ? "" : value;
  }

  private Stream<String> tokens(String lowerCaseName) {
    return Arrays.stream(header(lowerCaseName).split(",")).map(String::strip);
  }

  private boolean hasToken(String lowerCaseName, String token) {
    return tokens(lowerCaseName).anyMatch(token::equalsIgnoreCase);
  }

  private static boolean isKey(String key) {
    try {
      return Base64.getDecoder().decode(key).length == KEY_BYTES;
    } catch (IllegalArgumentException malformed) {
      return false;
    }
  }

  static String acceptHeader(String key) {
    try {
      var hash = MessageDigest.getInstance("SHA-1").digest((key + KEY_SUFFIX).getBytes(StandardCharsets.US_ASCII));
      return Base64.getEncoder().encodeToString(hash);
    } catch (NoSuchAlgorithmException everyJvmHasIt) {
      throw new AssertionError(everyJvmHasIt);
    }
  }

  /**
   * Returns whether the page that sends the request may connect. A browser sends the cookies of
   * this host with requests of any page, but its Origin header names the page truthfully.
   */
  private boolean isOriginAllowed() {
    var origin = exchange.head.header("origin");
    if (origin == null) return true;
    return settings.origins().map(origins -> isIn(origins, origin)).orElseGet(() -> isOfHost(origin, header("host")));
  }

  private static boolean isIn(List<String> allowedOrigins, String origin) {
    return allowedOrigins.contains("*")
        || allowedOrigins.stream().anyMatch(allowedOrigin -> isSameOrigin(allowedOrigin, origin));
  }

  /**
   * Returns whether the origin is a page of this server: it has the scheme of the browser's
   * connection, and the host and port of the Host header. That header must be safe from DNS
   * rebinding.
   */
  private boolean isOfHost(String origin, String host) {
    return exchange.body.settings.hosts().isSafeFromRebinding(host)
        && isSameOrigin(exchange.scheme() + "://" + host, origin);
  }

  private static boolean isSameOrigin(String origin, String other) {
    return withoutDefaultPort(origin).equalsIgnoreCase(withoutDefaultPort(other));
  }

  private static String withoutDefaultPort(String origin) {
    var port = origin.regionMatches(true, 0, "https:", 0, 6) ? ":443" : ":80";
    return origin.endsWith(port) ? origin.substring(0, origin.length() - port.length()) : origin;
  }
}
