package io.fibry.net;

import io.fibry.Handler;
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
record WebSocketHandshake(ServerExchange exchange, WebSocketOptions options) {
  private static final String VERSION = "13";
  private static final String KEY_SUFFIX = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"; // of RFC 6455
  private static final int KEY_BYTES = 16;

  /** Accepts the request and has the conversation, or refuses the request. */
  static void handle(ServerExchange exchange, WebSocketOptions options, Handler<WebSocketConnection> handler)
      throws IOException {
    new WebSocketHandshake(exchange, options).handle(handler);
  }

  private void handle(Handler<WebSocketConnection> handler) throws IOException {
    if (!exchange.method().equals("GET")) refuse(405, "a WebSocket is asked for with GET", "Allow", "GET");
    else if (!exchange.head.http11 || !hasToken("upgrade", "websocket") || !hasToken("connection", "upgrade"))
      refuse(426, "this is a WebSocket; ask for an upgrade, by HTTP/1.1", "Upgrade", "websocket", "Connection",
          "Upgrade", "Sec-WebSocket-Version", VERSION);
    else if (!header("sec-websocket-version").equals(VERSION))
      refuse(426, "only version " + VERSION + " of WebSocket is spoken", "Upgrade", "websocket", "Connection",
          "Upgrade", "Sec-WebSocket-Version", VERSION);
    else if (!isKey(header("sec-websocket-key"))) refuse(400, "a key of a WebSocket that is not one of 16 bytes");
    else if (exchange.head.bodyLength != 0) refuse(400, "a body, which a request for a WebSocket cannot have");
    else if (!isOriginAllowed())
      refuse(403, "pages of this origin may not connect; the server can allow it by withOrigins(..), or name its "
          + "hosts by withHosts(..)");
    else accept(handler);
  }

  private void refuse(int code, String text, String... headers) throws IOException {
    exchange.response.writeError(code, HttpStatus.text(code) + ": " + text + "\n", headers);
  }

  private void accept(Handler<WebSocketConnection> handler) throws IOException {
    var subprotocol = tokens("sec-websocket-protocol").filter(options.subprotocols::contains).findFirst();
    var upgrade = new ArrayList<>(List.of("Upgrade", "websocket", "Connection", "Upgrade", "Sec-WebSocket-Accept",
        acceptance(header("sec-websocket-key"))));
    subprotocol.ifPresent(name -> upgrade.addAll(List.of("Sec-WebSocket-Protocol", name)));
    exchange.response.requireNotBegun("an upgrade");
    var socket = new ServerWebSocket(exchange, options, subprotocol);
    exchange.response.permit.release(); // the conversation may last for hours
    exchange.response.upgrade(upgrade);
    socket.converse(handler);
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

  static String acceptance(String key) {
    try {
      var hash = MessageDigest.getInstance("SHA-1").digest((key + KEY_SUFFIX).getBytes(StandardCharsets.US_ASCII));
      return Base64.getEncoder().encodeToString(hash);
    } catch (NoSuchAlgorithmException everyJvmHasIt) {
      throw new AssertionError(everyJvmHasIt);
    }
  }

  /**
   * Returns whether the page that asks may connect. A browser sends the cookies of this host for
   * any page, but it names the origin of the page truthfully.
   */
  private boolean isOriginAllowed() {
    var origin = exchange.head.header("origin");
    if (origin == null) return true;
    return options.origins.map(allowed -> isIn(allowed, origin)).orElseGet(() -> isOfHost(origin, header("host")));
  }

  private static boolean isIn(List<String> allowed, String origin) {
    return allowed.contains("*") || allowed.stream().anyMatch(origin::equalsIgnoreCase);
  }

  /**
   * Returns whether the request comes from a page of this very server, whose name must be certain.
   * On an encrypted connection the page must be encrypted, too. A connection that is not encrypted
   * may come from a proxy that has decrypted it.
   */
  private boolean isOfHost(String origin, String host) {
    int colon = origin.indexOf("://");
    if (colon < 0 || !exchange.body.options.hosts.isKnown(host)) return false;
    boolean encrypted = origin.regionMatches(true, 0, "https:", 0, 6);
    if (exchange.tls().isPresent() && !encrypted) return false;
    var authority = origin.substring(colon + 3);
    var port = encrypted ? ":443" : ":80"; // browsers leave it out
    return !authority.isEmpty() && (authority.equalsIgnoreCase(host) || (authority + port).equalsIgnoreCase(host));
  }
}
