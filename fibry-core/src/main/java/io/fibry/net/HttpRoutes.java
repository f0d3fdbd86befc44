package io.fibry.net;

import io.fibry.Handler;
import io.fibry.block.ChangedCopy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.UnaryOperator;

/**
 * What a server answers for which method and path. Immutable and thread-safe.
 *
 * <p>{@code "/hello"} is that path, for every method. {@code "GET /orders/{id}"} is for GET and
 * HEAD, with any single segment in place of the name. {@code "/docs/{page...}"} is {@code /docs}
 * and all paths below it. If several routes take a request, the most exact route wins, from the
 * left: a name before {@code {id}}, and {@code {id}} before {@code {page...}}. Without a route the
 * answer is 404, with one for other methods only it is 405; OPTIONS is answered with the methods
 * there are.
 * {@snippet class="io.fibry.HttpSnippetsTest" region="routes"}
 */
public final class HttpRoutes {
  private static final HttpRoutes NONE = new HttpRoutes(List.of(), List.of(), Optional.empty());

  /** Handles an exchange. */
  interface RouteHandler {
    void answer(ServerExchange exchange) throws Exception;
  }

  /** A route at its place. */
  record RouteEntry(RoutePattern pattern, RouteHandler route) {}

  /** How exceptions of a type are answered. */
  private record FailureRule<E>(Class<E> type, Handler.Returning<FailedExchange<E>, String> answer) {}

  /**
   * An exchange whose handler threw.
   *
   * @param <E> the exception
   * @param failure the exception
   * @param exchange its status is 500 unless set, and its headers are as if it had not begun
   */
  public record FailedExchange<E>(E failure, HttpExchange exchange) {}

  private final List<RouteEntry> entries; // the most exact first
  private final Map<String, List<RouteEntry>> whole = new HashMap<>(); // by path; not changed after the constructor
  private final List<RouteEntry> open; // with parts that may be anything
  private final List<FailureRule<?>> rules;
  final Optional<BodyCodec> bodies;

  private HttpRoutes(List<RouteEntry> entries, List<FailureRule<?>> rules, Optional<BodyCodec> bodies) {
    this.entries = entries;
    this.rules = rules;
    this.bodies = bodies;
    for (var entry : entries) if (entry.pattern.isFixed())
      whole.computeIfAbsent(entry.pattern.path(), none -> new ArrayList<>(1)).add(entry);
    this.open = entries.stream().filter(entry -> !entry.pattern.isFixed()).toList();
  }

  /** {@return no routes} */
  public static HttpRoutes none() {
    return NONE;
  }

  /**
   * Answers with a text, as {@code text/plain} unless the handler sets a type.
   *
   * @param path begins with a slash, ends without one; perhaps a method before
   * @param handler runs on the connection's actor
   * @return more routes
   * @throws IllegalArgumentException if the path is malformed or taken
   */
  public HttpRoutes text(String path, Handler.Returning<HttpExchange, String> handler) {
    Objects.requireNonNull(handler, "handler");
    return with(path, exchange -> answerText(handler, exchange));
  }

  /**
   * Answers with an object, as bytes of the {@linkplain #withBodyCodec bodies}.
   *
   * @param path begins with a slash, ends without one; perhaps a method before
   * @param handler runs on the connection's actor
   * @return more routes
   * @throws IllegalArgumentException if the path is malformed or taken
   * @throws IllegalStateException if these routes have no bodies
   */
  public HttpRoutes object(String path, Handler.Returning<HttpExchange, ?> handler) {
    Objects.requireNonNull(handler, "handler");
    var form = bodies.orElseThrow(() -> new IllegalStateException(
        "'" + path + "' answers with objects, and nothing says how they become bytes; call withBodyCodec(..) before"));
    return with(path, exchange -> answerObject(handler, exchange, form));
  }

  /**
   * Has the handler write the answer.
   *
   * @param path begins with a slash, ends without one; perhaps a method before
   * @param handler runs on the connection's actor
   * @return more routes
   * @throws IllegalArgumentException if the path is malformed or taken
   */
  public HttpRoutes stream(String path, Handler<HttpExchange> handler) {
    return with(path, Objects.requireNonNull(handler, "handler")::handle);
  }

  /**
   * Answers with files; for a folder with its {@code index.html}. Names that begin with a dot are
   * hidden, and so are links to them or to files outside.
   *
   * @param path begins with a slash, ends without one; takes all below
   * @param root an existing folder
   * @return more routes
   * @throws IllegalArgumentException if the path is malformed or taken, or the root is no folder
   */
  public HttpRoutes files(String path, Path root) {
    var files = FileRoot.of(Objects.requireNonNull(root, "root"));
    var pattern = RoutePattern.of(path);
    if (pattern.method().isPresent() || !pattern.isFixed())
      throw new IllegalArgumentException("'" + path + "' cannot be the place of files; give a path without a method");
    int prefix = path.equals("/") ? 0 : path.length();
    return with("GET " + (prefix == 0 ? "" : path) + "/{file...}",
        exchange -> files.serve(exchange, exchange.path().substring(prefix)));
  }

  /**
   * Talks to clients over a WebSocket, as {@link #webSocket(String, Handler, UnaryOperator)} with
   * the limits as they are.
   *
   * @param path begins with a slash, ends without one
   * @param handler runs on the connection's actor
   * @return more routes
   * @throws IllegalArgumentException if the path is malformed or taken
   */
  public HttpRoutes webSocket(String path, Handler<WebSocketConnection> handler) {
    return webSocket(path, handler, same -> same);
  }

  /**
   * Talks to clients over a WebSocket. The handler is called once for each; when it returns or
   * throws, the connection is closed. A request that asks for no WebSocket is answered 426, one
   * from a page of another host 403.
   *
   * @param path begins with a slash, ends without one
   * @param handler runs on the connection's actor
   * @param options changes the limits
   * @return more routes
   * @throws IllegalArgumentException if the path is malformed or taken
   */
  public HttpRoutes webSocket(String path, Handler<WebSocketConnection> handler,
      UnaryOperator<WebSocketOptions> options) {
    Objects.requireNonNull(handler, "handler");
    var changed = ChangedCopy.of(WebSocketOptions.DEFAULT, options);
    return with(path, exchange -> WebSocketHandshake.handle(exchange, changed, handler));
  }

  // ---- all routes together

  /**
   * Runs code around each route that has been added so far, but not around those that are added
   * later. It may set headers before, throw a {@link HttpException} instead, or catch what the
   * handler throws. It calls next at most once.
   *
   * @param code runs on the connection's actor
   * @return the same routes, with it
   */
  public HttpRoutes intercept(Handler.Interceptor<HttpExchange> code) {
    Objects.requireNonNull(code, "code");
    return new HttpRoutes(entries.stream().map(entry -> new RouteEntry(entry.pattern, intercept(code, entry))).toList(),
        rules,
        bodies);
  }

  private static RouteHandler intercept(Handler.Interceptor<HttpExchange> code, RouteEntry entry) {
    return exchange -> {
      var gone = new boolean[1];
      code.intercept(exchange, () -> {
        if (gone[0]) throw new IllegalStateException("code around '" + entry.pattern
            + "' called next twice, and a request has one answer; let it call next once");
        gone[0] = true;
        entry.route.answer(exchange);
      });
      if (!gone[0] && !exchange.response.isBegun()) throw new IllegalStateException("code around '" + entry.pattern
          + "' neither went on nor answered; let it call next, set a status, or throw an HttpException");
    };
  }

  /**
   * Answers an exchange with a status if a handler, or code around it, throws an exception of this
   * type. The first rule that fits counts, also before the server's own rules.
   *
   * @param type of the exception
   * @param status 400 to 599
   * @return the same routes, with it
   */
  public HttpRoutes onFailure(Class<? extends Throwable> type, int status) {
    if (status < 400 || status > 599)
      throw new IllegalArgumentException("a status of " + status + " is no failure; give 400 to 599");
    return onFailure(type, failed -> {
      failed.exchange().status(status);
      return HttpStatus.text(status) + "\n";
    });
  }

  /**
   * Answers an exchange with a text if a handler, or code around it, throws an exception of this
   * type. The first rule that fits counts, also before the server's own rules. It is not logged.
   *
   * @param <E> the exception
   * @param type of it
   * @param answer gives the text, and perhaps sets a status and headers
   * @return the same routes, with it
   */
  public <E extends Throwable> HttpRoutes onFailure(Class<E> type,
      Handler.Returning<FailedExchange<E>, String> answer) {
    var more = new ArrayList<>(rules);
    more.add(new FailureRule<>(Objects.requireNonNull(type, "type"), Objects.requireNonNull(answer, "answer")));
    return new HttpRoutes(entries, List.copyOf(more), bodies);
  }

  /**
   * How objects become bytes, for {@link #object} routes that are added later and for
   * {@link HttpExchange#bodyAs}.
   *
   * @param bodies JSON, say
   * @return the same routes, with it
   */
  public HttpRoutes withBodyCodec(BodyCodec bodies) {
    return new HttpRoutes(entries, rules, Optional.of(Objects.requireNonNull(bodies, "bodies")));
  }

  // ---- answers

  private static void answerText(Handler.Returning<HttpExchange, String> handler, ServerExchange exchange)
      throws Exception {
    exchange.returnOnly("the text");
    var text = handler.handle(exchange);
    exchange.endHandling();
    exchange.response.writeText(Objects.requireNonNull(text, () -> "the handler of " + exchange
        + " answered null; let it answer a text, the empty one if there is nothing to say"));
  }

  private static void answerObject(Handler.Returning<HttpExchange, ?> handler, ServerExchange exchange, BodyCodec form)
      throws Exception {
    exchange.returnOnly("the object");
    Object object = handler.handle(exchange);
    exchange.endHandling();
    Objects.requireNonNull(object, () -> "the handler of " + exchange
        + " answered null; let it answer an object, or throw new HttpException(404, ..)");
    exchange.response.writeBytes(form.mediaType(), form.write(object));
  }

  HttpRoutes with(String path, RouteHandler route) {
    var pattern = RoutePattern.of(path);
    for (var entry : entries) if (entry.pattern.isEquivalent(pattern)) throw new IllegalArgumentException(
        "'" + path + "' has a route already" + (entry.pattern.text().equals(path) ? "" : ", '" + entry.pattern + "'")
            + "; give each path one");
    var more = new ArrayList<>(entries);
    more.add(new RouteEntry(pattern, route));
    more.sort(Comparator.comparing(RouteEntry::pattern, RoutePattern.ORDER)
        .thenComparing(entry -> entry.pattern.method().isEmpty())); // a method is more exact than all
    return new HttpRoutes(List.copyOf(more), rules, bodies);
  }

  List<RouteEntry> entries() {
    return entries;
  }

  /** Returns null if no route takes the request. */
  RouteEntry find(String method, String path) {
    if (path.equals(RequestTarget.SERVER.path())) return null;
    for (var entry : whole.getOrDefault(path, List.of())) if (entry.pattern.matchesMethod(method)) return entry;
    for (var entry : open) if (entry.pattern.matchesPath(path) && entry.pattern.matchesMethod(method)) return entry;
    return null;
  }

  /**
   * Returns the methods of the routes that take the path; empty if no route does. All take
   * {@code *}.
   */
  String allowedMethods(String path) {
    var methods = new TreeSet<String>();
    boolean all = path.equals(RequestTarget.SERVER.path());
    for (var entry : entries)
      if (all || entry.pattern.matchesPath(path)) entry.pattern.method().ifPresent(methods::add);
    if (methods.isEmpty() && !all) return "";
    if (methods.contains("GET")) methods.add("HEAD");
    methods.add("OPTIONS");
    return String.join(", ", methods);
  }

  /** Returns an empty value if no rule fits. */
  Optional<String> responseTo(Throwable failure, ServerExchange exchange) throws Exception {
    for (var rule : rules) if (rule.type.isInstance(failure)) return Optional.of(answer(rule, failure, exchange));
    return Optional.empty();
  }

  private static <E> String answer(FailureRule<E> rule, Throwable failure, ServerExchange exchange) throws Exception {
    exchange.response.reset(500);
    return Objects.requireNonNull(rule.answer.handle(new FailedExchange<>(rule.type.cast(failure), exchange)),
        () -> "the answer to a " + rule.type.getSimpleName() + " is null; let it be a text");
  }

  @Override
  public String toString() {
    return "routes for " + entries.stream().map(RouteEntry::pattern).toList();
  }
}
