package io.fibry.net;

import io.fibry.Handler;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;

/**
 * What a server does with which path. The longest one that the path begins with wins, by whole
 * segments: {@code /a} is for {@code /a} and {@code /a/b}, not for {@code /ab}. Where there is
 * none, 404. Immutable and thread-safe.
 * {@snippet class="io.fibry.HttpSnippetsTest" region="routes"}
 */
public final class HttpRoutes {
  private static final HttpRoutes NONE = new HttpRoutes(List.of());

  /** What answers an exchange. */
  sealed interface Route {
    void answer(OpenExchange exchange) throws Exception;
  }

  private record Text(Handler.Returning<Exchange, String> handler) implements Route {
    @Override
    public void answer(OpenExchange exchange) throws Exception {
      exchange.textOnly();
      var text = handler.handle(exchange);
      exchange.handled();
      exchange.answer().text(Objects.requireNonNull(text, () -> "the handler of " + exchange.path()
          + " answered null; let it answer a text, the empty one if there is nothing to say"));
    }
  }

  private record Stream(Handler<Exchange> handler) implements Route {
    @Override
    public void answer(OpenExchange exchange) throws Exception {
      handler.handle(exchange);
    }
  }

  private record Files(FileRoot root, int prefix) implements Route {
    @Override
    public void answer(OpenExchange exchange) throws Exception {
      root.answer(exchange, exchange.path().substring(prefix));
    }
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

  /**
   * No routes.
   *
   * @return routes that answer nothing but 404
   */
  public static HttpRoutes none() {
    return NONE;
  }

  /**
   * Answers with the text that the code returns, as {@code text/plain} unless the code sets another
   * type.
   *
   * @param path begins with a slash, ends without one
   * @param handler runs in the connection's actor, and may block
   * @return more routes
   * @throws IllegalArgumentException if the path is malformed, or has a route
   */
  public HttpRoutes text(String path, Handler.Returning<Exchange, String> handler) {
    return with(path, new Text(Objects.requireNonNull(handler, "handler")));
  }

  /**
   * The code writes the answer itself. Without anything written, the answer has no body.
   *
   * @param path begins with a slash, ends without one
   * @param handler runs in the connection's actor, and may block
   * @return more routes
   * @throws IllegalArgumentException if the path is malformed, or has a route
   */
  public HttpRoutes stream(String path, Handler<Exchange> handler) {
    return with(path, new Stream(Objects.requireNonNull(handler, "handler")));
  }

  /**
   * Answers with files below the root. For a folder its {@code index.html}, never a list of it;
   * nothing whose name begins with a dot, and nothing that a link leads out to.
   *
   * @param path begins with a slash, ends without one
   * @param root a folder that is there
   * @return more routes
   * @throws IllegalArgumentException if the path is malformed, or has a route, or the root is no
   * folder
   */
  public HttpRoutes files(String path, Path root) {
    Objects.requireNonNull(path, "path");
    return with(path,
        new Files(FileRoot.of(Objects.requireNonNull(root, "root")), path.equals("/") ? 0 : path.length()));
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

  /** What answers for this path; null: nothing. */
  Route find(String path) {
    for (int i = 0; i < entries.size(); i++) if (entries.get(i).takes(path)) return entries.get(i).route;
    return null;
  }

  @Override
  public String toString() {
    return "routes for " + entries.stream().map(Entry::path).toList();
  }
}
