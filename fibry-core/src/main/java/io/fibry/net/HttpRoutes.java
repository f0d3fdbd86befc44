package io.fibry.net;

import io.fibry.Handler;
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
 * Says which handler responds to which method and path. Immutable and thread-safe.
 *
 * <p>{@code "/hello"} takes this path, with every method. {@code "GET /orders/{id}"} takes GET and
 * HEAD, with any single segment in place of {@code {id}}. {@code "/docs/{page...}"} takes
 * {@code /docs} and all paths below it. If several routes take a request, the most exact route
 * wins, segment by segment from the left. A fixed name is more exact than {@code {id}}, and
 * {@code {id}} is more exact than {@code {page...}}. If no route takes the path, the response is
 * 404. If routes take the path, but only for other methods, the response is 405. If no route takes
 * an OPTIONS request, the response lists the methods that the routes of its path take.
 * {@snippet class="io.fibry.HttpSnippetsTest" region="routes"}
 */
public final class HttpRoutes {
  private static final HttpRoutes NONE = new HttpRoutes(List.of(), List.of(), Optional.empty());

  /** Handles an exchange. */
  interface RouteHandler {
    void handle(ServerExchange exchange) throws Exception;
  }

  /** A pattern, and the handler of the requests that it takes. */
  record RouteEntry(RoutePattern pattern, RouteHandler handler) {}

  /** Responds to exceptions of one type. */
  private record FailureRule<E>(Class<E> type, Handler.Returning<FailedExchange<E>, String> answer) {}

  /**
   * An exchange whose handler threw.
   *
   * @param <E> the type of the exception
   * @param failure the exception
   * @param exchange the exchange; its response has the status 500 and no headers, unless the rule
   * sets them
   */
  public record FailedExchange<E>(E failure, HttpExchange exchange) {}

  private final List<RouteEntry> entries; // the most exact first
  // routes without names in braces, by path; unchanged after the constructor
  private final Map<String, List<RouteEntry>> fixed = new HashMap<>();
  private final List<RouteEntry> others; // with names in braces; the most exact first
  private final List<FailureRule<?>> rules;
  final Optional<BodyCodec> bodyCodec;

  private HttpRoutes(List<RouteEntry> entries, List<FailureRule<?>> rules, Optional<BodyCodec> bodyCodec) {
    this.entries = entries;
    this.rules = rules;
    this.bodyCodec = bodyCodec;
    for (var entry : entries) if (entry.pattern.isFixed())
      fixed.computeIfAbsent(entry.pattern.path(), path -> new ArrayList<>(1)).add(entry);
    this.others = entries.stream().filter(entry -> !entry.pattern.isFixed()).toList();
  }

  /** {@return an empty set of routes, to which routes are added} */
  public static HttpRoutes none() {
    return NONE;
  }

  /**
   * Adds a route that responds with a text, as {@code text/plain} unless the handler sets a type.
   *
   * @param pattern a path such as {@code /} or {@code /orders/{id}}, without a slash at its end; a
   * method may precede it, as in {@code GET /orders}
   * @param handler runs on the connection's actor
   * @return these routes and the new route
   * @throws IllegalArgumentException if the pattern is malformed, or has a route already
   */
  public HttpRoutes text(String pattern, Handler.Returning<HttpExchange, String> handler) {
    Objects.requireNonNull(handler, "handler");
    return withRoute(pattern, exchange -> answerText(handler, exchange));
  }

  /**
   * Adds a route that responds with an object, as bytes of the {@linkplain #withBodyCodec codec}.
   *
   * @param pattern a path such as {@code /} or {@code /orders/{id}}, without a slash at its end; a
   * method may precede it, as in {@code GET /orders}
   * @param handler runs on the connection's actor
   * @return these routes and the new route
   * @throws IllegalArgumentException if the pattern is malformed, or has a route already
   * @throws IllegalStateException if these routes have no codec
   */
  public HttpRoutes object(String pattern, Handler.Returning<HttpExchange, ?> handler) {
    Objects.requireNonNull(handler, "handler");
    var codec = bodyCodec.orElseThrow(() -> new IllegalStateException(
        "'" + pattern + "' responds with objects, but these routes have no codec that "
            + "makes bytes of objects; call withBodyCodec(..) before"));
    return withRoute(pattern, exchange -> answerObject(handler, exchange, codec));
  }

  /**
   * Adds a route whose handler writes the response.
   *
   * @param pattern a path such as {@code /} or {@code /orders/{id}}, without a slash at its end; a
   * method may precede it, as in {@code GET /orders}
   * @param handler runs on the connection's actor
   * @return these routes and the new route
   * @throws IllegalArgumentException if the pattern is malformed, or has a route already
   */
  public HttpRoutes stream(String pattern, Handler<HttpExchange> handler) {
    return withRoute(pattern, Objects.requireNonNull(handler, "handler")::handle);
  }

  /**
   * Adds a route that responds with files. The response to the path of a folder is its
   * {@code index.html}. Names that begin with a dot are hidden, and so are links to such names or
   * to files outside of the folder.
   *
   * @param path a path such as {@code /} or {@code /docs}, without a slash at its end; the route
   * takes all paths below it
   * @param root an existing folder
   * @return these routes and the new route
   * @throws IllegalArgumentException if the path is malformed or has a route already, or the root
   * is no folder
   */
  public HttpRoutes files(String path, Path root) {
    var files = FileRoot.of(Objects.requireNonNull(root, "root"));
    var pattern = RoutePattern.of(path);
    if (pattern.method().isPresent() || !pattern.isFixed())
      throw new IllegalArgumentException(
          "'" + path + "' cannot have files below it; give a path without a method and without names in braces");
    int prefixLength = path.equals("/") ? 0 : path.length();
    return withRoute("GET " + (prefixLength == 0 ? "" : path) + "/{file...}",
        exchange -> files.serve(exchange, exchange.path().substring(prefixLength)));
  }

  /**
   * Adds a route for WebSockets, as {@link #webSocket(String, Handler, UnaryOperator)} with the
   * default limits.
   *
   * @param path a path such as {@code /} or {@code /rooms/{room}}, without a slash at its end
   * @param handler runs on the connection's actor
   * @return these routes and the new route
   * @throws IllegalArgumentException if the path is malformed, or has a route already
   */
  public HttpRoutes webSocket(String path, Handler<WebSocketConnection> handler) {
    return webSocket(path, handler, defaults -> defaults);
  }

  /**
   * Adds a route for WebSockets. The handler is called once for each connection; when it returns or
   * throws, the connection is closed. A request that does not ask for a WebSocket is refused with
   * 426, a request from a page of another host with 403.
   *
   * @param path a path such as {@code /} or {@code /rooms/{room}}, without a slash at its end
   * @param handler runs on the connection's actor
   * @param options changes the limits
   * @return these routes and the new route
   * @throws IllegalArgumentException if the path is malformed, or has a route already
   */
  public HttpRoutes webSocket(String path, Handler<WebSocketConnection> handler,
      UnaryOperator<WebSocketOptions> options) {
    Objects.requireNonNull(handler, "handler");
    var settings = WebSocketOptions.settings(options);
    return withRoute(path, exchange -> WebSocketHandshake.handle(exchange, settings, handler));
  }

  // ---- all routes together

  /**
   * Runs code around each route that has been added so far, but not around routes that are added
   * later. The code may set headers before the handler, throw an {@link HttpException} instead of
   * calling the handler, or catch the exceptions of the handler. The code may call {@code next} at
   * most once.
   *
   * @param code runs on the connection's actor
   * @return these routes, with the code around them
   */
  public HttpRoutes intercept(Handler.Interceptor<HttpExchange> code) {
    Objects.requireNonNull(code, "code");
    return new HttpRoutes(entries.stream().map(entry -> new RouteEntry(entry.pattern, intercept(code, entry))).toList(),
        rules,
        bodyCodec);
  }

  private static RouteHandler intercept(Handler.Interceptor<HttpExchange> code, RouteEntry entry) {
    return exchange -> {
      var called = new boolean[1];
      code.intercept(exchange, () -> {
        if (called[0]) throw new IllegalStateException("code around '" + entry.pattern
            + "' called next twice, and a request has one response; let it call next once");
        called[0] = true;
        entry.handler.handle(exchange);
      });
      if (!called[0] && !exchange.response.isBegun()) throw new IllegalStateException("code around '" + entry.pattern
          + "' neither called next nor responded; let it call next, set a status, or throw an HttpException");
    };
  }

  /**
   * Responds with a status if a handler, or code around it, throws an exception of this type. The
   * first rule that fits is used. If no rule fits, the server decides (see {@link HttpServer}). If
   * a rule is used, the exception is not logged.
   *
   * @param type the type of the exception
   * @param status 400 to 599
   * @return these routes, with the rule
   */
  public HttpRoutes onFailure(Class<? extends Throwable> type, int status) {
    if (status < 400 || status > 599)
      throw new IllegalArgumentException("a status of " + status + " is no failure; give 400 to 599");
    return onFailure(type, failed -> {
      failed.exchange().status(status);
      return HttpStatus.codeAndReason(status) + "\n";
    });
  }

  /**
   * Responds with a text if a handler, or code around it, throws an exception of this type. The
   * first rule that fits is used. If no rule fits, the server decides (see {@link HttpServer}). If
   * a rule is used, the exception is not logged.
   *
   * @param <E> the type of the exception
   * @param type the class of the exception
   * @param answer returns the text, and may set a status and headers
   * @return these routes, with the rule
   */
  public <E extends Throwable> HttpRoutes onFailure(Class<E> type,
      Handler.Returning<FailedExchange<E>, String> answer) {
    var newRules = new ArrayList<>(rules);
    newRules.add(new FailureRule<>(Objects.requireNonNull(type, "type"), Objects.requireNonNull(answer, "answer")));
    return new HttpRoutes(entries, List.copyOf(newRules), bodyCodec);
  }

  /**
   * Sets the codec for {@link #object} routes that are added to the returned routes, and for
   * {@link HttpExchange#bodyAs}.
   *
   * @param codec converts objects to bodies and back, for example JSON
   * @return these routes, with the codec
   */
  public HttpRoutes withBodyCodec(BodyCodec codec) {
    return new HttpRoutes(entries, rules, Optional.of(Objects.requireNonNull(codec, "codec")));
  }

  // ---- responses

  private static void answerText(Handler.Returning<HttpExchange, String> handler, ServerExchange exchange)
      throws Exception {
    exchange.forbidWriting("the text");
    var text = handler.handle(exchange);
    exchange.endHandling();
    exchange.response.writeText(Objects.requireNonNull(text, () -> "the handler of " + exchange
        + " returned null; let it return a text, which may be empty"));
  }

  private static void answerObject(Handler.Returning<HttpExchange, ?> handler, ServerExchange exchange, BodyCodec codec)
      throws Exception {
    exchange.forbidWriting("the object");
    Object object = handler.handle(exchange);
    exchange.endHandling();
    Objects.requireNonNull(object, () -> "the handler of " + exchange
        + " returned null; let it return an object, or throw new HttpException(404, ..)");
    exchange.response.writeBytes(codec.mediaType(), codec.write(object));
  }

  HttpRoutes withRoute(String pattern, RouteHandler handler) {
    var newPattern = RoutePattern.of(pattern);
    for (var entry : entries) if (entry.pattern.isEquivalent(newPattern)) throw new IllegalArgumentException(
        "'" + pattern + "' has a route already"
            + (entry.pattern.text().equals(pattern) ? "" : ", '" + entry.pattern + "'") + "; give each path one");
    var newEntries = new ArrayList<>(entries);
    newEntries.add(new RouteEntry(newPattern, handler));
    newEntries.sort(Comparator.comparing(RouteEntry::pattern, RoutePattern.ORDER)
        .thenComparing(entry -> entry.pattern.method().isEmpty())); // routes for one method come first
    return new HttpRoutes(List.copyOf(newEntries), rules, bodyCodec);
  }

  List<RouteEntry> entries() {
    return entries;
  }

  /**
   * Returns the most exact route that takes the request. Returns null if no route does, or the path
   * is {@code *}.
   */
  RouteEntry find(String method, String path) {
    if (path.equals(RequestTarget.SERVER.path())) return null;
    for (var entry : fixed.getOrDefault(path, List.of())) if (entry.pattern.matchesMethod(method)) return entry;
    for (var entry : others) if (entry.pattern.matchesPath(path) && entry.pattern.matchesMethod(method)) return entry;
    return null;
  }

  /**
   * Returns the methods that routes take for the path; for the path {@code *}, the methods that any
   * route takes. Returns an empty text if no route takes the path.
   */
  String allowedMethods(String path) {
    var methods = new TreeSet<String>();
    boolean isAsterisk = path.equals(RequestTarget.SERVER.path());
    for (var entry : entries)
      if (isAsterisk || entry.pattern.matchesPath(path)) entry.pattern.method().ifPresent(methods::add);
    if (methods.isEmpty() && !isAsterisk) return "";
    if (methods.contains("GET")) methods.add("HEAD");
    methods.add("OPTIONS");
    return String.join(", ", methods);
  }

  /**
   * Applies the first rule that fits the failure, and returns its text. Returns empty if no rule
   * fits.
   */
  Optional<String> responseTo(Throwable failure, ServerExchange exchange) throws Exception {
    for (var rule : rules) if (rule.type.isInstance(failure)) return Optional.of(answer(rule, failure, exchange));
    return Optional.empty();
  }

  private static <E> String answer(FailureRule<E> rule, Throwable failure, ServerExchange exchange) throws Exception {
    exchange.response.reset(500);
    return Objects.requireNonNull(rule.answer.handle(new FailedExchange<>(rule.type.cast(failure), exchange)),
        () -> "the response to a " + rule.type.getSimpleName() + " is null; let it be a text");
  }

  @Override
  public String toString() {
    return "routes for " + entries.stream().map(RouteEntry::pattern).toList();
  }
}
