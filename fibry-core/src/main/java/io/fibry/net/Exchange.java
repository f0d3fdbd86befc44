package io.fibry.net;

import io.fibry.Actor;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Optional;

/**
 * An HTTP request and its answer. Belongs to the actor that handles it: not thread-safe, but for
 * {@link #eventActor}'s, and over when its handler returns.
 * {@snippet class="io.fibry.HttpSnippetsTest" region="exchange"}
 */
public interface Exchange {

  /**
   * What is to be done: GET, HEAD, POST, PUT, DELETE, PATCH or OPTIONS. Others never come to a
   * handler.
   *
   * @return the method
   */
  String method();

  /**
   * The path, decoded once and canonical: it begins with a slash and has no {@code .} or {@code ..}
   * segment, no empty segment, no backslash and no control character. What could not be made so was
   * answered 400.
   *
   * @return the path
   */
  String path();

  /**
   * A parameter of the query, decoded; of several with one name the first.
   *
   * @param name the parameter
   * @return its value, empty text if it has none
   */
  Optional<String> query(String name);

  /**
   * A header of the request. Several with one name are one, with commas between (cookies:
   * semicolons).
   *
   * @param name in any case
   * @return its value
   */
  Optional<String> header(String name);

  /**
   * The body. Reading it throws an {@link java.io.IOException} when it is longer than the server
   * allows, ends too early or is malformed; thrown on by the handler, it is answered 413 or 400. A
   * client slower than the server allows is cut off. To close the stream is not needed.
   *
   * @return always the same stream
   */
  InputStream body();

  /**
   * The body as text in UTF-8; what is malformed is replaced.
   *
   * @return the text, also when asked again
   * @throws java.io.UncheckedIOException as reading {@link #body} throws
   */
  String text();

  /**
   * Sets the status of the answer; 200 unless set.
   *
   * @param code 200 to 599
   * @return this
   */
  Exchange status(int code);

  /**
   * Sets a header of the answer, in place of one of this name; only of {@code Set-Cookie} there can
   * be several. How the body is sent is the server's business: a {@code Content-Length} is kept to,
   * and of {@code Connection} only {@code close} is accepted.
   *
   * @param name of letters, digits and dashes
   * @param value on one line, in Latin-1
   * @return this
   * @throws IllegalArgumentException if it would not be one header
   */
  Exchange header(String name, String value);

  /**
   * Starts the answer; for routes that write it themselves. It is buffered: what is flushed, or
   * more than 8 kB, is sent at once, and the rest when the handler returns.
   *
   * @return always the same stream
   * @throws IllegalStateException on a route that answers with the text its handler returns
   */
  OutputStream out();

  /**
   * Starts an answer of server-sent events. The client as an actor: a message is an event for it,
   * and goes out at once. It ends when the client is gone or too slow to take what is sent, when
   * the server ends, and when the handler returns: so a handler waits for its end.
   *
   * @return always the same actor; thread-safe
   * @throws IllegalStateException on a route that answers with the text its handler returns
   */
  Actor<String> eventActor();
}
