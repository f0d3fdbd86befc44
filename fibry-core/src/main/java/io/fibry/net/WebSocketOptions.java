package io.fibry.net;

import io.fibry.block.ChangedCopy;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The limits of the WebSockets of a route, in addition to the limits of their server. A client that
 * exceeds one is cut off or told so. Immutable and thread-safe.
 * {@snippet class="io.fibry.WebSocketSnippetsTest" region="options"}
 */
public final class WebSocketOptions implements Cloneable {
  private static final int MAX_ARRAY = Integer.MAX_VALUE - 8; // bytes of an array
  static final WebSocketOptions DEFAULT = new WebSocketOptions();

  // written by `with..` only, before the copy is shared
  Duration idle = Duration.ofSeconds(60);
  int message = 1_000_000;
  int frame = MAX_ARRAY;
  int unsent; // 0 means the size of the longest message, or 1 MB
  Optional<List<String>> origins = Optional.empty(); // empty: the same host
  List<String> subprotocols = List.of();

  private WebSocketOptions() {}

  private WebSocketOptions with(Consumer<WebSocketOptions> change) {
    return ChangedCopy.of(this::clone, change);
  }

  /**
   * How long a client may send nothing to a handler that reads. The server sends a ping before half
   * of this time is over; browsers answer it by themselves.
   *
   * @param limit a minute unless changed; {@code ChronoUnit.FOREVER.getDuration()} is none
   * @return a changed copy
   */
  public WebSocketOptions withIdleLimit(Duration limit) {
    return with(copy -> copy.idle = ListenerLimits.positive(limit, "an idle"));
  }

  /**
   * The longest message that is read; a longer one closes with 1009. Each connection may hold one.
   *
   * @param bytes 1 MB unless changed; at least 1
   * @return a changed copy
   */
  public WebSocketOptions withMaxMessage(int bytes) {
    return with(copy -> copy.message = atMost(bytes, "a max message"));
  }

  /**
   * The longest frame that is read; a longer one closes with 1009. A message may be of several.
   *
   * @param bytes as the longest message unless changed; at least 1
   * @return a changed copy
   */
  public WebSocketOptions withMaxFrame(int bytes) {
    return with(copy -> copy.frame = atMost(bytes, "a max frame"));
  }

  /**
   * How much a connection's actor may have unsent, before its client is cut off. Each message
   * counts 32 bytes more.
   *
   * @param bytes the longest message unless changed, but 1 MB or more; at least 1
   * @return a changed copy
   */
  public WebSocketOptions withMaxUnsent(int bytes) {
    return with(copy -> copy.unsent = atMost(bytes, "a max unsent"));
  }

  /** With the head of a frame. */
  int maxUnsent() {
    return WebSocketFrame.size(unsent == 0 ? Math.max(1_000_000, message) : unsent);
  }

  private static int atMost(int bytes, String what) {
    return Math.min(MAX_ARRAY, ListenerLimits.atLeastOne(bytes, what));
  }

  /**
   * Which pages may connect, instead of those from the host that is connected to, if that is an
   * address, {@code localhost}, or named by {@link HttpOptions#withHosts}. Programs that are no
   * browsers send no origin, and may always.
   *
   * @param origins such as {@code https://shop.example}, or {@code "*"} for any
   * @return a changed copy
   */
  public WebSocketOptions withOrigins(String... origins) {
    for (var origin : Objects.requireNonNull(origins, "origins"))
      if (!origin.equals("*") && !origin.matches("[a-zA-Z][^:]*://[^/]+")) throw new IllegalArgumentException("'"
          + origin + "' is no origin; give scheme and host as in \"https://shop.example\", or \"*\"");
    return with(copy -> copy.origins = Optional.of(List.of(origins)));
  }

  /**
   * Sets the subprotocols that the server speaks. The first subprotocol of the client that is among
   * these is agreed on. If none is, the client may continue without a subprotocol, or leave.
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
}
