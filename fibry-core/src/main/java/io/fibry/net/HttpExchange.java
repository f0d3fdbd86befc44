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
 * An HTTP request and its answer, over when the handler returns. Belongs to the handler's thread,
 * except for {@link #eventActor}'s actor.
 * {@snippet class="io.fibry.HttpSnippetsTest" region="exchange"}
 */
public interface HttpExchange {

  /** {@return GET, HEAD, POST, PUT, DELETE, PATCH or OPTIONS} */
  String method();

  /**
   * {@return the path, decoded once} It begins with a slash and has no {@code .}, {@code ..} or
   * empty segment, no backslash and no control character.
   */
  String path();

  /**
   * Returns the part of the path at the place where the route has this name in braces:
   * {@code path("id")} for {@code /orders/{id}}.
   *
   * @param name in the route
   * @return decoded; of the rest of a path perhaps empty
   * @throws IllegalArgumentException if the route has no such name
   */
  String path(String name);

  /** {@return the client's address, or that of a proxy in front} */
  InetSocketAddress remoteAddress();

  /**
   * {@return the TLS session, with the client's certificate if one was requested, or empty without
   * TLS}
   */
  Optional<SSLSession> tls();

  /**
   * A parameter of the query, decoded; the first of its name.
   *
   * @param name the parameter
   * @return its value, perhaps empty
   */
  Optional<String> queryParameter(String name);

  /** {@return all parameters of the query, decoded, with their values in order} */
  Map<String, List<String>> queryParameters();

  /**
   * A header of the request; several of one name are joined.
   *
   * @param name in any case
   * @return its value
   */
  Optional<String> header(String name);

  /** {@return all headers of the request, by name in lower case, with their values in order} */
  Map<String, List<String>> headers();

  /**
   * {@return the body, always the same stream} A read throws an {@link java.io.IOException} if the
   * body is malformed or too long. If the handler lets it through, the answer is 400 or 413.
   */
  InputStream body();

  /**
   * {@return the body as text} Malformed UTF-8 is replaced.
   *
   * @throws java.io.UncheckedIOException as reading {@link #body} throws
   */
  String bodyAsText();

  /**
   * {@return the whole body}
   *
   * @throws java.io.UncheckedIOException as reading {@link #body} throws
   */
  byte[] bodyAsBytes();

  /**
   * The body as that of a form in a page: its fields, decoded, with their values in order.
   *
   * @return {@code application/x-www-form-urlencoded}; another type is answered 415, a malformed
   *     body 400
   * @throws java.io.UncheckedIOException as reading {@link #body} throws
   */
  Map<String, List<String>> form();

  /**
   * The body as an object, by the {@linkplain HttpRoutes#withBodyCodec bodies} of the routes.
   *
   * @param <T> of it
   * @param type of it
   * @return it; a body of another type is answered 415, a body that cannot be read 400
   * @throws IllegalStateException if the routes have no bodies
   */
  <T> T bodyAs(Class<T> type);

  /**
   * Sets the status of the answer, 200 unless set. An answer with 204, 205 or 304 has no body.
   *
   * @param code 200 to 599
   * @return this
   */
  HttpExchange status(int code);

  /**
   * Sets a header of the answer, in place of any of this name but {@code Set-Cookie}. A
   * {@code Content-Length} is enforced; of {@code Connection} only {@code close} is accepted.
   *
   * @param name letters, digits and dashes
   * @param value one line of Latin-1
   * @return this
   * @throws IllegalArgumentException if it would not be one header
   */
  HttpExchange header(String name, String value);

  /**
   * Starts the answer. 8 kB are buffered, and sent when that is full or flushed, or the handler
   * returns.
   *
   * @return always the same stream
   * @throws IllegalStateException on a {@code text} route
   */
  OutputStream outputStream();

  /**
   * Starts an answer of server-sent events, one for each message to the actor. The actor ends when
   * the client is gone or too slow, when the server ends, and when the handler returns, so the
   * handler waits for it.
   *
   * @return always the same actor; thread-safe
   * @throws IllegalStateException on a {@code text} route
   */
  Actor<String> eventActor();
}
