package io.fibry.net;

import io.fibry.Actor;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.util.Optional;
import javax.net.ssl.SSLSession;

/**
 * An HTTP request and its answer, over when the handler returns. Belongs to the handler's thread,
 * except for {@link #eventActor}'s actor.
 * {@snippet class="io.fibry.HttpSnippetsTest" region="exchange"}
 */
public interface Exchange {

  /** {@return GET, HEAD, POST, PUT, DELETE, PATCH or OPTIONS} */
  String method();

  /**
   * {@return the path, decoded once} It begins with a slash and has no {@code .}, {@code ..} or
   * empty segment, no backslash and no control character.
   */
  String path();

  /** {@return the client's address, or that of a proxy in front} */
  InetSocketAddress remoteAddress();

  /**
   * {@return what was agreed on with the client, and its certificate if it was asked for one;
   * empty: not through TLS}
   */
  Optional<SSLSession> tls();

  /**
   * A parameter of the query, decoded; the first of its name.
   *
   * @param name the parameter
   * @return its value, perhaps empty
   */
  Optional<String> query(String name);

  /**
   * A header of the request; several of one name are joined.
   *
   * @param name in any case
   * @return its value
   */
  Optional<String> header(String name);

  /**
   * {@return the body, always the same stream} A read throws an {@link java.io.IOException} if the
   * body is malformed or too long; thrown on by the handler, that is answered 400 or 413.
   */
  InputStream body();

  /**
   * {@return the body as text} Malformed UTF-8 is replaced.
   *
   * @throws java.io.UncheckedIOException as reading {@link #body} throws
   */
  String text();

  /**
   * Sets the status of the answer, 200 unless set. An answer with 204, 205 or 304 has no body.
   *
   * @param code 200 to 599
   * @return this
   */
  Exchange status(int code);

  /**
   * Sets a header of the answer, in place of any of this name but {@code Set-Cookie}. A
   * {@code Content-Length} is enforced; of {@code Connection} only {@code close} is accepted.
   *
   * @param name letters, digits and dashes
   * @param value one line of Latin-1
   * @return this
   * @throws IllegalArgumentException if it would not be one header
   */
  Exchange header(String name, String value);

  /**
   * Starts the answer. 8 kB are buffered, and sent when that is full or flushed, or the handler
   * returns.
   *
   * @return always the same stream
   * @throws IllegalStateException on a {@code text} route
   */
  OutputStream out();

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
