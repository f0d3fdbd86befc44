package io.fibry.net;

import io.fibry.Actor;
import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.function.Function;
import javax.net.ssl.SSLSession;

/**
 * A WebSocket of an HTTP server, closed when its handler returns or throws. Reading belongs to the
 * handler's thread; the rest is thread-safe.
 * {@snippet class="io.fibry.WebSocketSnippetsTest" region="connection"}
 *
 * <p>Messages end when either side has closed: the client, {@link #close}, or the server at its end
 * (1001). Messages of the client after that are dropped. If the client is gone without a close, was
 * cut off, or has sent what it must not, reading throws an {@link java.io.UncheckedIOException}.
 * Pings are answered while the handler reads.
 *
 * <p>A handler that throws {@code MailboxFullException}, {@code ActorStoppedException} or
 * {@code CircuitOpenException} closes with 1013, with anything else 1011 and a number that is in
 * the log; {@link HttpRoutes#onFailure} is not asked. Code {@linkplain HttpRoutes#intercept around}
 * the route may refuse the request and set headers of the answer, and continues when the
 * conversation is over.
 */
public interface WebSocketConnection extends AutoCloseable {

  /** {@return the path of the request, as {@link HttpExchange#path} has it} */
  String path();

  /**
   * A part of the path, decoded.
   *
   * @param name as the route has it, as in {@code "/rooms/{room}"}
   * @return its value
   * @throws IllegalArgumentException if the route has no such part
   */
  String path(String name);

  /**
   * A parameter of the query, decoded; the first of its name.
   *
   * @param name the parameter
   * @return its value, perhaps empty
   */
  Optional<String> queryParameter(String name);

  /**
   * A header of the request; several of one name are joined.
   *
   * @param name in any case
   * @return its value
   */
  Optional<String> header(String name);

  /** {@return the client's address, or that of a proxy in front} */
  InetSocketAddress remoteAddress();

  /**
   * {@return the TLS session, with the client's certificate if one was requested, or empty without
   * TLS}
   */
  Optional<SSLSession> tls();

  /** {@return which of the subprotocols was agreed on} */
  Optional<String> subprotocol();

  /** {@return the messages the client sends} A second iteration continues the first. */
  Iterable<WebSocketMessage> messages();

  /**
   * {@return the texts the client sends} Bytes close with 1003. A second iteration continues the
   * first.
   */
  Iterable<String> texts();

  /**
   * The texts the client sends, as values of another type.
   *
   * @param <T> their type
   * @param reader makes a value of a text; if it throws an IllegalArgumentException, such as a
   * NumberFormatException, the connection is closed with 1007
   * @return the values; a second iteration continues the first
   */
  <T> Iterable<T> texts(Function<String, T> reader);

  /**
   * {@return an actor whose messages are texts for the client; always the same} Its senders do not
   * wait. When more than {@code withMaxUnsent} bytes are unsent, the client is cut off, even if a
   * single burst is that large. The actor ends with the connection, which first writes the sent
   * messages, within the write limit. It ends with {@link io.fibry.ExitReason.Stopped} if it was
   * cut off, or if the client disconnected without a close. If it is ended, the connection closes.
   * A message that is not written, or has half a pair of surrogates, is a dead letter.
   */
  Actor<String> textActor();

  /**
   * {@return the same actor as {@link #textActor} for bytes, so their order is kept} An array must
   * not be changed once it was sent.
   */
  Actor<byte[]> binaryActor();

  /**
   * Closes, after what was sent to the actor; never waits. The first close counts. The client has
   * two seconds to close, too.
   *
   * @param code 1000 for the normal end, 1001 to 1014 as in RFC 6455 without the reserved codes, or
   * 3000 to 4999 for your own
   * @param reason at most 123 bytes of UTF-8
   * @throws IllegalArgumentException if a close cannot have that code or reason
   */
  void close(int code, String reason);

  /** Closes with 1000, or 1001 if the server ends. */
  @Override
  void close();

  /** {@return how the client has closed, or empty if it has not} */
  Optional<WebSocketClose> peerClose();
}
