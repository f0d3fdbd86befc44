package io.fibry.net;

import io.fibry.Actor;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.net.ssl.SSLSession;

/**
 * An HTTP request and its response. The exchange is over when the handler returns. Only the
 * handler's thread may use it, except for the actor of {@link #eventActor}, which is thread-safe.
 * {@snippet class="io.fibry.HttpSnippetsTest" region="exchange"}
 */
public interface HttpExchange {

  /** {@return GET, HEAD, POST, PUT, DELETE, PATCH or OPTIONS} */
  String method();

  /**
   * {@return the path, decoded once} The path begins with a slash and has no {@code .}, {@code ..}
   * or empty segment, no backslash and no control character.
   */
  String path();

  /**
   * Returns the part of the path that replaces this name of the route: {@code path("id")} for
   * {@code /orders/{id}}.
   *
   * @param name the name that the route has in braces
   * @return the decoded part; only a name with dots, such as {@code {file...}}, can have an empty
   * part
   * @throws IllegalArgumentException if the route has no such name
   */
  String path(String name);

  /**
   * {@return the client's address} Behind a proxy, the address is that of the proxy unless
   * {@link HttpOptions#withProxies} names it. A proxy need not tell the port, which is then 0.
   */
  InetSocketAddress remoteAddress();

  /**
   * {@return {@code https} or {@code http}: the scheme by which the client has sent the request}
   * Behind a proxy, the scheme is that of the proxy unless {@link HttpOptions#withProxies} names
   * it.
   */
  String scheme();

  /**
   * {@return the TLS session, with the client's certificate if one was requested, or empty without
   * TLS}
   */
  Optional<SSLSession> tls();

  /**
   * Returns the first parameter of the query with this name, decoded.
   *
   * @param name the name of the parameter
   * @return its value, which may be the empty text; empty if the query has no such parameter
   */
  Optional<String> queryParameter(String name);

  /** {@return all parameters of the query, decoded, with their values in order} */
  Map<String, List<String>> queryParameters();

  /**
   * Returns a header of the request. The values of several headers with the same name are joined.
   *
   * @param name in upper or lower case
   * @return its value; empty if the request has no such header
   */
  Optional<String> header(String name);

  /** {@return all headers of the request, by name in lower case, with their values in order} */
  Map<String, List<String>> headers();

  /**
   * {@return the body, always the same stream} A read throws an {@link java.io.IOException} if the
   * body is malformed or too long. If the handler does not catch this exception, the response is
   * 400 or 413.
   */
  InputStream body();

  /**
   * {@return the body as text} Malformed UTF-8 is replaced by the replacement character.
   *
   * @throws java.io.UncheckedIOException if reading {@link #body} fails
   */
  String bodyAsText();

  /**
   * {@return the whole body}
   *
   * @throws java.io.UncheckedIOException if reading {@link #body} fails
   */
  byte[] bodyAsBytes();

  /**
   * Returns the fields of an HTML form, decoded, with their values in order. The body must have the
   * type {@code application/x-www-form-urlencoded}.
   *
   * @return the fields, by name
   * @throws HttpException with 415 if the request names another type, with 413 if the form has too
   * many fields, with 400 if the body is malformed
   * @throws java.io.UncheckedIOException if reading {@link #body} fails
   */
  Map<String, List<String>> form();

  /**
   * Reads an object from the body, with the {@linkplain HttpRoutes#withBodyCodec codec} of the
   * routes. An exception of the codec that is no {@link HttpException} is a failure of the server:
   * it is logged, and the response is 500.
   *
   * @param <T> the type of the object
   * @param type the class of the object
   * @return the object
   * @throws HttpException with 415 if the request names another type than the codec's, with the
   * status and text of the codec if the body contains no such object
   * @throws java.io.UncheckedIOException if reading {@link #body} fails
   * @throws IllegalStateException if the routes have no codec
   */
  <T> T bodyAs(Class<T> type);

  /**
   * Attaches an object to the exchange, for code that runs later. For example, code around a route
   * attaches the user whom it has found.
   *
   * @param <T> the type of the object
   * @param type the type under which the object is found; a second object of this type replaces the
   * first
   * @param value the object
   * @return this exchange
   */
  <T> HttpExchange attribute(Class<T> type, T value);

  /**
   * {@return the object that was attached under this type, if there is one} Without an attached
   * object, {@link javax.security.auth.x500.X500Principal} gives the subject of the certificate by
   * which the client has identified itself. TLS has verified this certificate. The principal is
   * empty without TLS, and for a client without a certificate.
   *
   * @param <T> the type of the object
   * @param type the type under which the object was attached
   */
  <T> Optional<T> attribute(Class<T> type);

  /**
   * Runs an action if the client disconnects before the handler has returned. For example, the
   * action cancels a job whose result would have no reader. Do not interrupt the handler's thread:
   * an interrupt may close a socket that the handler uses. A client that has only ended its sending
   * side, which few clients do, counts as disconnected. The disconnect of a client that has sent
   * its next request already is not noticed.
   *
   * @param action runs once at most, on another thread, or on this one if the client has
   * disconnected already
   * @return this exchange
   * @throws IllegalStateException if the body was not read to its end, or an action was set before
   */
  HttpExchange onDisconnect(Runnable action);

  /**
   * Sets the status of the response; by default 200. A response with 204, 205 or 304 has no body.
   *
   * @param code 200 to 599
   * @return this
   */
  HttpExchange status(int code);

  /**
   * Sets a header of the response. The new header replaces a header of the same name, except for
   * {@code Set-Cookie}. A {@code Content-Length} must be the length of the body that the handler
   * writes. For {@code Connection}, only {@code close} is accepted.
   *
   * @param name letters, digits and dashes
   * @param value one line of Latin-1
   * @return this
   * @throws IllegalArgumentException if name or value is not allowed in a header
   */
  HttpExchange header(String name, String value);

  /**
   * Starts the response. Up to 8 KiB are buffered. The buffer is sent when it is full or flushed,
   * or when the handler returns.
   *
   * @return always the same stream
   * @throws IllegalStateException on a {@code text} or {@code object} route
   */
  OutputStream outputStream();

  /**
   * Starts a response of server-sent events: each message to the actor becomes an event. The actor
   * ends when the client has disconnected or is too slow, when the server ends, and when the
   * handler returns. Therefore a handler usually waits for the end of the actor before it returns.
   *
   * @return always the same actor; thread-safe
   * @throws IllegalStateException on a {@code text} or {@code object} route
   */
  Actor<String> eventActor();
}
