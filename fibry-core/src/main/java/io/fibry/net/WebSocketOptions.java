package io.fibry.net;

import io.fibry.block.ChangedCopy;
import io.fibry.net.http.RequestHead;
import io.fibry.net.socket.ClientOutbox;
import io.fibry.net.socket.ListenerLimits;
import io.fibry.net.websocket.WebSocketSettings;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * The options of the WebSockets of a route. Their limits apply in addition to the limits of the
 * server. A client that exceeds a limit is cut off, or its connection is closed with a code.
 * Immutable and thread-safe.
 * {@snippet class="io.fibry.WebSocketSnippetsTest" region="options"}
 */
public final class WebSocketOptions implements Cloneable {
  private static final int MAX_BYTES = Integer.MAX_VALUE - 32; // so that an array can have a message and its head
  private static final WebSocketOptions DEFAULT = new WebSocketOptions();

  // written by `with..` only, before the copy is shared
  private Duration idleLimit = Duration.ofSeconds(60);
  private int maxMessage = 1_000_000;
  private int maxFrame = MAX_BYTES;
  private int maxUnsent; // bytes; 0 means two messages of maxMessage bytes, but at least 1 MB
  private Optional<List<String>> origins = Optional.empty(); // empty: only pages of the same host may connect
  private List<String> subprotocols = List.of();

  private WebSocketOptions() {}

  private WebSocketOptions with(Consumer<WebSocketOptions> change) {
    return ChangedCopy.of(this::clone, change);
  }

  /**
   * Limits how long a client may send nothing while its handler reads. The server sends a ping
   * before half of this time is over; browsers reply to a ping automatically.
   *
   * @param limit by default a minute; {@code ChronoUnit.FOREVER.getDuration()} means no limit
   * @return a changed copy
   */
  public WebSocketOptions withIdleLimit(Duration limit) {
    return with(copy -> copy.idleLimit = ListenerLimits.positive(limit, "an idle"));
  }

  /**
   * Limits the length of a message that is read. A longer message closes the connection with 1009.
   * Each connection may have one message of this length in memory.
   *
   * @param bytes by default 1 MB; at least 1
   * @return a changed copy
   */
  public WebSocketOptions withMaxMessage(int bytes) {
    return with(copy -> copy.maxMessage = capSize(bytes, "a max message"));
  }

  /**
   * Limits the length of a frame that is read. A longer frame closes the connection with 1009. A
   * message may have several frames.
   *
   * @param bytes by default the limit of a message; at least 1
   * @return a changed copy
   */
  public WebSocketOptions withMaxFrame(int bytes) {
    return with(copy -> copy.maxFrame = capSize(bytes, "a max frame"));
  }

  /**
   * Limits the unsent bytes of a connection's actor. If they exceed the limit, the client is cut
   * off. Each message counts as its own bytes and 32 bytes more. A message that exceeds the limit
   * alone is a dead letter, and its client is not cut off.
   *
   * @param bytes at least 1; by default enough for two messages of the maximum length, and at least
   * 1 MB
   * @return a changed copy
   */
  public WebSocketOptions withMaxUnsent(int bytes) {
    return with(copy -> copy.maxUnsent = capSize(bytes, "a max unsent"));
  }

  private static int capSize(int bytes, String name) {
    return Math.min(MAX_BYTES, ListenerLimits.atLeastOne(bytes, name));
  }

  /**
   * Sets which pages may connect. If no origins are set, a page may connect only to its own scheme,
   * host and port, if this host is an IP address, {@code localhost}, or named by
   * {@link HttpOptions#withHosts}. If origins are set, no other page may connect, not even a page
   * of this server. Programs other than browsers send no origin, and may always connect. A page
   * that may not connect gets a 403; the log names it, at most once a minute.
   *
   * <p>If a proxy in front of the server decrypts TLS, the scheme of the page is {@code https} and
   * the connection is not encrypted. Name this proxy by {@link HttpOptions#withProxies}; it must
   * send the original scheme, and pass the {@code Host} header on unchanged. With any other proxy,
   * set the origins.
   *
   * @param origins such as {@code https://shop.example}, or {@code "*"} for any
   * @return a changed copy
   */
  public WebSocketOptions withOrigins(String... origins) {
    for (var origin : Objects.requireNonNull(origins, "origins"))
      if (!origin.equals("*") && !origin.matches("[a-zA-Z][^:]*://[^/]+")) throw new IllegalArgumentException("'"
          + origin + "' is not an origin; give scheme and host as in \"https://shop.example\", or \"*\"");
    return with(copy -> copy.origins = Optional.of(List.of(origins)));
  }

  /**
   * Sets the subprotocols that the server speaks. The server chooses the first subprotocol in the
   * client's list that is among these names. If there is no such subprotocol, the client may
   * continue without one, or close.
   *
   * @param names each a token
   * @return a changed copy
   */
  public WebSocketOptions withSubprotocols(String... names) {
    for (var name : Objects.requireNonNull(names, "names"))
      if (name.isEmpty() || !name.chars().allMatch(RequestHead::isToken)) throw new IllegalArgumentException(
          "'" + name + "' cannot be the name of a subprotocol; give letters, digits, dashes and dots");
    return with(copy -> copy.subprotocols = List.of(names));
  }

  /** Returns the values that the user's function chooses. */
  static WebSocketSettings settings(UnaryOperator<WebSocketOptions> options) {
    return ChangedCopy.optionsOf(DEFAULT, options).settings();
  }

  private WebSocketSettings settings() {
    return new WebSocketSettings(idleLimit, maxMessage, maxFrame, maxUnsent == 0 ? defaultMaxUnsent() : maxUnsent,
        origins, subprotocols);
  }

  /**
   * Returns enough for two messages: a client may already have received a message, and replied to
   * it, when the server still counts this message as unsent.
   */
  private int defaultMaxUnsent() {
    return Math.clamp(2L * maxMessage + ClientOutbox.OVERHEAD, 1_000_000, MAX_BYTES);
  }
}
