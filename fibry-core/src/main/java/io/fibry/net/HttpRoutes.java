package io.fibry.net;

import io.fibry.Handler;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;

/**
 * What a server answers for which path. The longest matching route wins, by whole segments:
 * {@code /a} matches {@code /a/b}, but not {@code /ab}. Without a route the answer is 404.
 * Immutable and thread-safe.
 * {@snippet class="io.fibry.HttpSnippetsTest" region="routes"}
 */
public final class HttpRoutes {
  private static final HttpRoutes NONE = new HttpRoutes(List.of());

  /** Answers an exchange. */
  interface Route {
    void answer(OpenExchange exchange) throws Exception;
  }

  private record Entry(String path, Route route) {
    boolean takes(String asked) {
      int length = path.length();
      return asked.startsWith(path) && (length == asked.length() || length == 1 || asked.charAt(length) == '/');
    }
  }

  private final List<Entry> entries; // the longest first

  private HttpRoutes(List<Entry> entries) {
    this.entries = entries;
  }

  /** {@return no routes} */
  public static HttpRoutes none() {
    return NONE;
  }

  /**
   * Answers with a text, as {@code text/plain} unless the handler sets a type.
   *
   * @param path begins with a slash, ends without one
   * @param handler runs on the connection's actor
   * @return more routes
   * @throws IllegalArgumentException if the path is malformed or taken
   */
  public HttpRoutes text(String path, Handler.Returning<Exchange, String> handler) {
    Objects.requireNonNull(handler, "handler");
    return with(path, exchange -> answerText(handler, exchange));
  }

  /**
   * Has the handler write the answer.
   *
   * @param path begins with a slash, ends without one
   * @param handler runs on the connection's actor
   * @return more routes
   * @throws IllegalArgumentException if the path is malformed or taken
   */
  public HttpRoutes stream(String path, Handler<Exchange> handler) {
    return with(path, Objects.requireNonNull(handler, "handler")::handle);
  }

  /**
   * Answers with files; for a folder with its {@code index.html}. Names that begin with a dot are
   * hidden, and so are links to them or to files outside.
   *
   * @param path begins with a slash, ends without one
   * @param root an existing folder
   * @return more routes
   * @throws IllegalArgumentException if the path is malformed or taken, or the root is no folder
   */
  public HttpRoutes files(String path, Path root) {
    Objects.requireNonNull(path, "path");
    var files = FileRoot.of(Objects.requireNonNull(root, "root"));
    int prefix = path.equals("/") ? 0 : path.length();
    return with(path, exchange -> files.answer(exchange, exchange.path().substring(prefix)));
  }

  private static void answerText(Handler.Returning<Exchange, String> handler, OpenExchange exchange)
      throws Exception {
    exchange.textOnly();
    var text = handler.handle(exchange);
    exchange.endHandling();
    exchange.answer.text(Objects.requireNonNull(text, () -> "the handler of " + exchange.path()
        + " answered null; let it answer a text, the empty one if there is nothing to say"));
  }

  private HttpRoutes with(String path, Route route) {
    Objects.requireNonNull(path, "path");
    boolean whole = path.equals("/") || path.startsWith("/") && !path.endsWith("/") && !path.contains("//");
    if (!whole || path.contains("?") || path.contains("/./") || path.contains("/../") || path.endsWith("/.")
        || path.endsWith("/..") || path.chars().anyMatch(Character::isISOControl))
      throw new IllegalArgumentException("'" + path
          + "' is no path that a request can have; give \"/\" or \"/name\", without a slash at the end, dots to "
          + "climb by or a query");
    if (entries.stream().anyMatch(entry -> entry.path.equals(path)))
      throw new IllegalArgumentException("'" + path + "' has a route already; give each path one");
    var more = new ArrayList<>(entries);
    more.add(new Entry(path, route));
    more.sort(Comparator.comparingInt((Entry entry) -> entry.path.length()).reversed());
    return new HttpRoutes(List.copyOf(more));
  }

  /** Null: none. */
  Route find(String path) {
    for (int i = 0; i < entries.size(); i++) if (entries.get(i).takes(path)) return entries.get(i).route;
    return null;
  }

  @Override
  public String toString() {
    return "routes for " + entries.stream().map(Entry::path).toList();
  }
}
