package io.fibry.net.http;

import io.fibry.Handler;
import io.fibry.net.BodyCodec;
import io.fibry.net.ErrorBody;
import io.fibry.net.HttpExchange;
import io.fibry.net.HttpRoutes;
import io.fibry.net.HttpRoutes.FailedExchange;
import java.nio.file.Path;
import java.time.Duration;
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
 * The table behind {@link HttpRoutes}: finds the route of a request, and the rule for a failure.
 * Immutable and thread-safe.
 */
public final class RouteTable {
  public static final RouteTable EMPTY = new RouteTable(List.of(), RouteSettings.NONE);
  // the header of each 503 of the server, and of each 503 of a failure rule without code
  static final String RETRY_AFTER = "Retry-After";
  static final String RETRY_SECONDS = "1";

  /** Handles an exchange. */
  public interface RouteHandler {
    void handle(ServerExchange exchange) throws Exception;
  }

  /** Says which rules of the server apply to a route. */
  enum RouteKind {
    ORDINARY,
    /** Is handled even if too many exchanges run, and with any Host header. */
    PROBE,
    /** Takes only GET, even if its pattern names no method. */
    WEB_SOCKET
  }

  /**
   * A pattern, and the handler of the requests that it takes.
   *
   * @param settings the settings of the mounted routes from which the entry comes; they come before
   * the settings of the table
   */
  record RouteEntry(RoutePattern pattern, RouteHandler handler, RouteSettings settings, RouteKind kind) {

    boolean matchesMethod(String method) {
      return kind == RouteKind.WEB_SOCKET ? method.equals("GET") : pattern.matchesMethod(method);
    }

    /** Returns the methods that the route takes; empty if it takes all. */
    private List<String> methods() {
      if (kind == RouteKind.WEB_SOCKET) return List.of("GET");
      return pattern.method().map(method -> method.equals("GET") ? List.of("GET", "HEAD") : List.of(method))
          .orElse(List.of());
    }

    private RouteEntry with(RouteHandler newHandler, RouteSettings newSettings) {
      return new RouteEntry(pattern, newHandler, newSettings, kind);
    }
  }

  private final List<RouteEntry> entries; // all routes; the most exact route first
  // routes without names in braces, by path; unchanged after the constructor
  private final Map<String, List<RouteEntry>> fixed = new HashMap<>();
  private final List<RouteEntry> others; // routes with names in braces; the most exact route first
  final RouteSettings settings;

  private RouteTable(List<RouteEntry> entries, RouteSettings settings) {
    this.entries = entries;
    this.settings = settings;
    for (var entry : entries) if (entry.pattern.isFixed())
      fixed.computeIfAbsent(entry.pattern.path(), path -> new ArrayList<>(1)).add(entry);
    this.others = entries.stream().filter(entry -> !entry.pattern.isFixed()).toList();
  }

  public RouteTable withText(String pattern, Handler.Returning<HttpExchange, String> handler) {
    return withRoute(pattern, exchange -> answerText(handler, exchange));
  }

  public RouteTable withObject(String pattern, Handler.Returning<HttpExchange, ?> handler) {
    var codec = settings.bodyCodec().orElseThrow(() -> new IllegalStateException(
        "'" + pattern + "' responds with objects, but these routes have no codec that "
            + "makes bytes of objects; call withBodyCodec(..) before"));
    return withRoute(pattern, exchange -> answerObject(handler, exchange, codec));
  }

  public RouteTable withFiles(String path, Path root) {
    var files = FileRoot.of(root);
    var pattern = RoutePattern.of(path);
    if (pattern.method().isPresent() || !pattern.isFixed())
      throw new IllegalArgumentException(
          "'" + path + "' cannot have files below it; give a path without a method and without names in braces");
    return withRoute("GET " + (path.equals("/") ? "" : path) + "/{file...}",
        exchange -> files.serve(exchange, exchange.path().substring(exchange.pattern.restStart(exchange.path()))));
  }

  public RouteTable withWebSocket(String path, RouteHandler handler) {
    var method = RoutePattern.of(path).method();
    if (method.isPresent() && !method.get().equals("GET"))
      throw new IllegalArgumentException("'" + path + "' cannot be a WebSocket, which begins with a GET; give a path");
    return with(new RouteEntry(RoutePattern.of(path), innermost(handler), RouteSettings.NONE, RouteKind.WEB_SOCKET));
  }

  public RouteTable withProbe(String pattern, Handler.Returning<HttpExchange, String> handler) {
    return with(new RouteEntry(RoutePattern.of(pattern), innermost(exchange -> answerText(handler, exchange)),
        RouteSettings.NONE,
        RouteKind.PROBE));
  }

  public RouteTable withRoute(String pattern, RouteHandler handler) {
    return with(new RouteEntry(RoutePattern.of(pattern), innermost(handler), RouteSettings.NONE, RouteKind.ORDINARY));
  }

  /**
   * Returns the handler of a route, without the code around it. If the handler fails, the part of
   * the response that it has written is discarded, so that code around it can still set headers.
   */
  private static RouteHandler innermost(RouteHandler handler) {
    return exchange -> {
      var response = exchange.response;
      response.headers.isInHandler = true;
      try {
        handler.handle(exchange);
      } catch (Throwable failure) {
        if (!response.isSent()) response.discard();
        throw failure;
      } finally {
        response.headers.isInHandler = false;
      }
    };
  }

  private RouteTable with(RouteEntry newEntry) {
    var pattern = newEntry.pattern;
    for (var entry : entries) if (entry.pattern.isEquivalent(pattern)) throw new IllegalArgumentException(
        "'" + pattern + "' has a route already"
            + (entry.pattern.text().equals(pattern.text()) ? "" : ", '" + entry.pattern + "'")
            + "; give each path only one route");
    var newEntries = new ArrayList<>(entries);
    newEntries.add(newEntry);
    newEntries.sort(Comparator.comparing(RouteEntry::pattern, RoutePattern.ORDER)
        .thenComparing(entry -> entry.pattern.method().isEmpty())); // routes for one method come first
    return new RouteTable(List.copyOf(newEntries), settings);
  }

  /** Adds all routes of another table below a path. They keep the settings of their table. */
  public RouteTable mount(String path, RouteTable mounted) {
    if (!RoutePattern.of(path).mayHaveRoutesBelow()) throw new IllegalArgumentException("'" + path
        + "' cannot have routes below it; give a path without a method and without {name...}");
    if (mounted.entries.isEmpty()) throw new IllegalArgumentException("there are no routes to mount at '" + path
        + "'; HttpRoutes are immutable, so give the routes that text(..) and the other methods return, and mount "
        + "optional routes only if there are any");
    var table = this;
    for (var entry : mounted.entries)
      table = table.with(new RouteEntry(entry.pattern.below(path), entry.handler,
          entry.settings.within(mounted.settings), entry.kind));
    return table;
  }

  public RouteTable withBodyCodec(BodyCodec codec) {
    return with(new RouteSettings(settings.rules(), Optional.of(codec), settings.errorBody(), settings.timeLimit()));
  }

  public RouteTable withErrorBody(ErrorBody errorBody) {
    return with(
        new RouteSettings(settings.rules(), settings.bodyCodec(), Optional.of(errorBody), settings.timeLimit()));
  }

  public RouteTable withTimeLimit(Duration limit) {
    return with(new RouteSettings(settings.rules(), settings.bodyCodec(), settings.errorBody(), Optional.of(limit)));
  }

  private RouteTable with(RouteSettings newSettings) {
    return new RouteTable(entries, newSettings);
  }

  /**
   * Adds a rule for exceptions. If {@code text} returns null, the response has only the status. A
   * response with 503 has the header {@code Retry-After} of the server's own 503.
   */
  public <E extends Throwable> RouteTable withFailureText(Class<E> type, int status,
      Handler.Returning<? super E, String> text) {
    return withRule(new RouteSettings.FailureRule<>(type, failed -> {
      failed.exchange().status(status);
      if (status == 503) failed.exchange().header(RETRY_AFTER, RETRY_SECONDS);
      return text.handle(failed.failure());
    }));
  }

  public <E extends Throwable> RouteTable withFailureRule(Class<E> type,
      Handler.Returning<FailedExchange<E>, String> answer) {
    return withRule(new RouteSettings.FailureRule<>(type, failed -> Objects.requireNonNull(answer.handle(failed),
        () -> "the response to a " + type.getSimpleName() + " is null; let it be a text")));
  }

  private RouteTable withRule(RouteSettings.FailureRule<?> rule) {
    for (var earlier : settings.rules()) if (earlier.type().isAssignableFrom(rule.type()))
      throw new IllegalArgumentException("a rule for " + rule.type().getSimpleName()
          + " would never be used, because the earlier rule for " + earlier.type().getSimpleName()
          + " fits, too; add the rule for the more exact type first, and one rule for each type");
    var newRules = new ArrayList<>(settings.rules());
    newRules.add(rule);
    return with(
        new RouteSettings(List.copyOf(newRules), settings.bodyCodec(), settings.errorBody(), settings.timeLimit()));
  }

  /** Returns a table that runs the code around each route of this table. */
  public RouteTable intercept(Handler.Interceptor<HttpExchange> code) {
    if (entries.isEmpty()) throw new IllegalStateException("intercept(..) runs code around the routes that were added "
        + "before it, and there are none; call it after text(..) and the other routes");
    return map(entry -> entry.with(intercept(code, entry), entry.settings));
  }

  /**
   * Returns a table whose entries have all settings that apply to them, so that a server does not
   * combine them for each request.
   */
  RouteTable withSettingsInEntries() {
    return map(entry -> entry.with(entry.handler, entry.settings.within(settings)));
  }

  private RouteTable map(UnaryOperator<RouteEntry> change) {
    return new RouteTable(entries.stream().map(change).toList(), settings);
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

  // ---- requests

  List<RouteEntry> entries() {
    return entries;
  }

  /**
   * Returns the most exact route that takes the request. Returns null if no route does, or the path
   * is {@code *}.
   */
  RouteEntry find(String method, String path) {
    if (path.equals(RequestTarget.SERVER.path())) return null;
    for (var entry : fixed.getOrDefault(path, List.of())) if (entry.matchesMethod(method)) return entry;
    for (var entry : others) if (entry.pattern.matchesPath(path) && entry.matchesMethod(method)) return entry;
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
      if (isAsterisk || entry.pattern.matchesPath(path)) methods.addAll(entry.methods());
    if (methods.isEmpty() && !isAsterisk) return "";
    methods.add("OPTIONS");
    return String.join(", ", methods);
  }

  /**
   * Applies the first rule that fits the failure, and sets the response. Returns whether a rule
   * fits.
   */
  static boolean respondTo(Throwable failure, ServerExchange exchange) throws Exception {
    for (var rule : exchange.settings.rules()) if (rule.type().isInstance(failure)) {
      respond(rule, failure, exchange);
      return true;
    }
    return false;
  }

  private static <E> void respond(RouteSettings.FailureRule<E> rule, Throwable failure, ServerExchange exchange)
      throws Exception {
    exchange.response.reset(500);
    var failed = new FailedExchange<>(rule.type().cast(failure), exchange, exchange.failureNumber());
    String text;
    exchange.response.headers.isInHandler = true;
    try {
      text = rule.answer().handle(failed);
    } finally {
      exchange.response.headers.isInHandler = false;
    }
    exchange.response.setErrorOfRule(text == null ? HttpStatus.codeAndReason(exchange.response.code()) : text);
  }

  // ---- responses

  private static void answerText(Handler.Returning<HttpExchange, String> handler, ServerExchange exchange)
      throws Exception {
    exchange.response.setText(response(handler, exchange, "the text", "a text, which may be empty"));
  }

  private static void answerObject(Handler.Returning<HttpExchange, ?> handler, ServerExchange exchange, BodyCodec codec)
      throws Exception {
    Object object = response(handler, exchange, "the object", "an object, or throw new HttpException(404, ..)");
    exchange.response.setBytes(codec.mediaType(), codec.write(object));
  }

  /** Calls a handler that returns the response, which exceptions describe by the two texts. */
  private static <T> T response(Handler.Returning<HttpExchange, T> handler, ServerExchange exchange, String result,
      String advice) throws Exception {
    exchange.forbidWriting(result);
    T response = handler.handle(exchange);
    ServerExchange.clearInterrupt();
    return Objects.requireNonNull(response,
        () -> "the handler of " + exchange + " returned null; let it return " + advice);
  }

  @Override
  public String toString() {
    return "routes for " + entries.stream().map(RouteEntry::pattern).toList();
  }
}
