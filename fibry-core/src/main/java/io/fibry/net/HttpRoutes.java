package io.fibry.net;

import io.fibry.Handler;
import io.fibry.net.http.RouteTable;
import io.fibry.net.socket.ListenerLimits;
import io.fibry.net.websocket.WebSocketHandshake;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

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
  private static final HttpRoutes NONE = new HttpRoutes(RouteTable.EMPTY);

  /**
   * An exchange whose handler threw.
   *
   * @param <E> the type of the exception
   * @param failure the exception
   * @param exchange the exchange; its response has the status 500, and only the headers of code
   * around the route, unless the rule of {@code onFailure} sets others
   * @param number names the failure in the log, if the status of the response is 500 or more
   */
  public record FailedExchange<E>(E failure, HttpExchange exchange, String number) {}

  final RouteTable table;

  private HttpRoutes(RouteTable table) {
    this.table = table;
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
    return new HttpRoutes(table.withText(pattern, handler));
  }

  /**
   * Adds a route that responds with a text even if the server is full, for the health checks of a
   * load balancer or an orchestrator. The route is a {@link #text} route that
   * {@link HttpOptions#withMaxExchanges} neither counts nor refuses. Only the limit of connections
   * bounds such handlers, so each must return soon. {@link HttpOptions#withHosts} does not refuse
   * such a request either, because a health check often calls the server by its IP address. So a
   * foreign page may read the text, which must not be secret.
   * {@snippet class="io.fibry.HttpSnippetsTest" region="probe"}
   *
   * @param pattern a path such as {@code /health}, without a slash at its end; a method may precede
   * it, as in {@code GET /health}
   * @param handler runs on the connection's actor
   * @return these routes and the new route
   * @throws IllegalArgumentException if the pattern is malformed, or has a route already
   */
  public HttpRoutes probe(String pattern, Handler.Returning<HttpExchange, String> handler) {
    Objects.requireNonNull(handler, "handler");
    return new HttpRoutes(table.withProbe(pattern, handler));
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
    return new HttpRoutes(table.withObject(pattern, handler));
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
    return new HttpRoutes(table.withRoute(pattern, Objects.requireNonNull(handler, "handler")::handle));
  }

  /**
   * Adds a route that responds with files. The response to the path of a folder is its
   * {@code index.html}. Names that begin with a dot are hidden, and so are links to such names or
   * to files outside of the folder.
   *
   * <p>A GET or HEAD may have the conditions of RFC 9110, such as {@code If-None-Match}. The
   * response is 304 if the client has the present version, and 412 if the client wants another
   * version. A version is named by its {@code ETag}, which is made of the size and the modification
   * time of the file, or by its {@code Last-Modified}. The tag is weak for two seconds after a
   * change.
   *
   * <p>A GET with a {@code Range} gets this part of the file with 206, or 416 if the file has no
   * byte of the range. A malformed range, or more than one range, gets the whole file with 200.
   *
   * @param path a path such as {@code /} or {@code /docs}, without a slash at its end; the route
   * takes all paths below it
   * @param root an existing folder
   * @return these routes and the new route
   * @throws IllegalArgumentException if the path is malformed or has a route already, or the root
   * is not a folder
   */
  public HttpRoutes files(String path, Path root) {
    return new HttpRoutes(table.withFiles(path, Objects.requireNonNull(root, "root")));
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
   * 426, a request with another method than GET with 405, and a request from a page of another
   * origin with 403.
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
    return new HttpRoutes(
        table.withWebSocket(path, exchange -> WebSocketHandshake.handle(exchange, settings, handler)));
  }

  // ---- all routes together

  /**
   * Adds all routes of {@code routes} below a path. They keep the code around them, their rules for
   * failures, their codec, their error body and their time limit. Those of the outer routes are
   * used after them. The rules of the added routes also get exceptions of code that is put around
   * the outer routes. A request below the path that no route takes belongs to the outer routes: its
   * 404 or 405 has the outer error body, and the code around the added routes does not run.
   * {@snippet class="io.fibry.HttpSnippetsTest" region="mount"}
   *
   * @param path {@code /} or a path such as {@code /admin} or {@code /shops/{shop}}, without a
   * slash at its end
   * @param routes the routes to add, at least one
   * @return these routes and the others
   * @throws IllegalArgumentException if the path is malformed, has a method or ends with
   * {@code {name...}}, if a path has a route already, or if there is no route to add
   */
  public HttpRoutes mount(String path, HttpRoutes routes) {
    return new HttpRoutes(table.mount(path, Objects.requireNonNull(routes, "routes").table));
  }

  /**
   * Runs code around each route that has been added so far, but not around routes that are added
   * later. The code may throw an {@link HttpException} instead of calling the handler, or catch the
   * exceptions of the handler. It may set the status and headers before the handler, and also after
   * the handler of a {@link #text} or {@link #object} route. The code may call {@code next} at most
   * once.
   *
   * <p>The headers that the code sets, such as a request id, are also sent with error responses.
   * Headers that describe a body, such as {@code Content-Type} or {@code ETag}, are dropped, unless
   * the error is an {@link HttpException}, whose response has all headers that were set. A header
   * that is set after a handler that may fail needs a {@code finally} block. No code runs for a
   * request that is refused unread, or that no route takes; for headers of their responses, see
   * {@link HttpOptions#withResponseHeaders}. A route for {@code "/{page...}"} that throws an
   * {@code HttpException} takes all requests.
   *
   * @param code runs on the connection's actor
   * @return these routes, with the code around them
   * @throws IllegalStateException if no route has been added, so that the code would never run
   */
  public HttpRoutes intercept(Handler.Interceptor<HttpExchange> code) {
    return new HttpRoutes(table.intercept(Objects.requireNonNull(code, "code")));
  }

  /**
   * Responds with a status if a handler, or code around it, throws an exception of this type. The
   * first rule that fits is used. If no rule fits, the server decides (see {@link HttpServer}). If
   * a rule is used, the exception is logged only if the status is 500 or more, and if the server
   * itself would log it. A response with 503 has the header {@code Retry-After: 1}.
   *
   * @param type the type of the exception
   * @param status 400 to 599
   * @return these routes, with the rule
   * @throws IllegalArgumentException if an earlier rule of these routes has this type or a
   * supertype
   */
  public HttpRoutes onFailure(Class<? extends Throwable> type, int status) {
    requireErrorStatus(status);
    return new HttpRoutes(table.withFailureText(Objects.requireNonNull(type, "type"), status, failure -> null));
  }

  /**
   * Responds with a status and a text if a handler, or code around it, throws an exception of this
   * type. The text has the form of the {@linkplain #withErrorBody error body}, as the text of an
   * {@link HttpException} has. The first rule that fits is used. If a rule is used, the exception
   * is logged only if the status is 500 or more, and if the server itself would log it. A response
   * with 503 has the header {@code Retry-After: 1}.
   * {@snippet class="io.fibry.HttpSnippetsTest" region="onFailure"}
   *
   * @param <E> the type of the exception
   * @param type the class of the exception
   * @param status 400 to 599
   * @param text returns the text for the client, such as the message of the exception; if it
   * returns null, the response has only the status
   * @return these routes, with the rule
   * @throws IllegalArgumentException if an earlier rule of these routes has this type or a
   * supertype
   */
  @SuppressWarnings("exports") // nullness annotations
  public <E extends Throwable> HttpRoutes onFailure(Class<E> type, int status,
      Handler.Returning<E, @Nullable String> text) {
    requireErrorStatus(status);
    return new HttpRoutes(table.withFailureText(Objects.requireNonNull(type, "type"), status,
        Objects.requireNonNull(text, "text")));
  }

  private static void requireErrorStatus(int status) {
    if (status < 400 || status > 599)
      throw new IllegalArgumentException("a status of " + status + " is not a failure; give 400 to 599");
  }

  /**
   * Responds with a text if a handler, or code around it, throws an exception of this type. The
   * text has the form of the {@linkplain #withErrorBody error body}, unless {@code answer} sets the
   * header {@code Content-Type} or a status below 400. The first rule that fits is used. If no rule
   * fits, the server decides (see {@link HttpServer}). If a rule is used, the exception is logged
   * only if the status is 500 or more, and if the server itself would log it.
   *
   * @param <E> the type of the exception
   * @param type the class of the exception
   * @param answer returns the text, and may set a status and headers
   * @return these routes, with the rule
   * @throws IllegalArgumentException if an earlier rule of these routes has this type or a
   * supertype
   */
  public <E extends Throwable> HttpRoutes onFailure(Class<E> type,
      Handler.Returning<FailedExchange<E>, String> answer) {
    return new HttpRoutes(
        table.withFailureRule(Objects.requireNonNull(type, "type"), Objects.requireNonNull(answer, "answer")));
  }

  /**
   * Sets the codec for {@link #object} routes that are added to the returned routes, and for
   * {@link HttpExchange#bodyAs} of all these routes. Replaces an earlier codec, but not for the
   * responses of {@code object} routes that have been added already.
   *
   * @param codec converts objects to bodies and back, for example JSON
   * @return these routes, with the codec
   */
  public HttpRoutes withBodyCodec(BodyCodec codec) {
    return new HttpRoutes(table.withBodyCodec(Objects.requireNonNull(codec, "codec")));
  }

  /**
   * Sets the form of all error responses: of the server itself, of {@link HttpException}s and of
   * the rules of {@code onFailure}. Applies to all these routes, including routes that are added
   * later, and replaces an earlier form.
   *
   * @param errorBody makes the bodies, for example {@link ErrorBody#problemDetails}
   * @return these routes, with the error body
   */
  public HttpRoutes withErrorBody(ErrorBody errorBody) {
    return new HttpRoutes(table.withErrorBody(Objects.requireNonNull(errorBody, "errorBody")));
  }

  /**
   * Limits how long a handler, with the code around it, may take. The limit applies to all these
   * routes, including routes that are added later, and replaces an earlier limit. A handler that
   * takes longer is interrupted. If it then throws, the exception is logged and the response is
   * 504, unless a rule of {@code onFailure} fits or the exception is an {@link HttpException}. The
   * log and the client get the limit, the path and the number of the failure. If the handler
   * returns, its response is sent.
   *
   * <p>The response has no {@code Retry-After}, because the work of the request may be done, or may
   * continue: an actor that the handler has asked does not notice the interrupt. Let a client that
   * repeats such a request send the same key for it, as the header {@code Idempotency-Key}.
   *
   * <p>While the handler waits for its client to send or read, it is not interrupted; the interrupt
   * follows this wait. Other limits of the server apply to such waits. The limit ends when an event
   * stream or a WebSocket begins.
   *
   * @param limit more than zero; mounted routes keep their own limit
   * @return these routes, with the limit
   */
  public HttpRoutes withTimeLimit(Duration limit) {
    return new HttpRoutes(table.withTimeLimit(ListenerLimits.positive(limit, "a time")));
  }

  @Override
  public String toString() {
    return table.toString();
  }
}
