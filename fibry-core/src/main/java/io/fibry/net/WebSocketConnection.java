package io.fibry.net;

import io.fibry.Actor;
import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.function.Function;
import javax.net.ssl.SSLSession;

/**
 * A WebSocket of an HTTP server, closed when its handler returns or throws. Only the handler's
 * thread may read; the other methods are thread-safe.
 * {@snippet class="io.fibry.WebSocketSnippetsTest" region="connection"}
 *
 * <p>The messages end when the client closes, when {@link #close} is called, or when the server
 * ends (with 1001). Later messages of the client are dropped. Reading throws an
 * {@link java.io.UncheckedIOException} if the client has disconnected without a close or broken the
 * protocol, or if the server has cut it off. Pings are answered while the handler reads.
 *
 * <p>If a handler throws an exception for which {@link HttpException#statusOf} returns 503, such as
 * {@code MailboxFullException}, the connection is closed with 1013. After any other exception it is
 * closed with 1011 and a number that is in the log. An {@link HttpException} closes the connection
 * with its text, cut to 123 bytes. The code is 1008 if its status is below 500, 1013 if it is 503,
 * and otherwise 1011 with an entry in the log. {@link HttpRoutes#onFailure} has no effect.
 * Code {@linkplain HttpRoutes#intercept around} the route may refuse the request and set headers of
 * the response, and continues when the conversation is over.
 */
public interface WebSocketConnection extends AutoCloseable {

  /** {@return the path of the request, as {@link HttpExchange#path} returns it} */
  String path();

  /**
   * Returns a part of the path, decoded.
   *
   * @param name the name that the route has in braces, such as "room" in {@code "/rooms/{room}"}
   * @return its value
   * @throws IllegalArgumentException if the route has no such name
   */
  String path(String name);

  /**
   * Returns the first parameter of the query with this name, decoded.
   *
   * @param name the name of the parameter
   * @return its value, which may be the empty text; empty if the query has no such parameter
   */
  Optional<String> queryParameter(String name);

  /**
   * Returns a header of the request. The values of several headers with the same name are joined.
   *
   * @param name in upper or lower case
   * @return its value; empty if the request has no such header
   */
  Optional<String> header(String name);

  /** {@return the client's address, or the address of a proxy in front of the server} */
  InetSocketAddress remoteAddress();

  /**
   * {@return the object that code around the route has attached under this type, if there is one}
   * The subject of the client's certificate is found as {@link HttpExchange#attribute(Class)} says.
   *
   * @param <T> the type of the object
   * @param type the type under which the object was attached
   */
  <T> Optional<T> attribute(Class<T> type);

  /**
   * {@return the TLS session, with the client's certificate if one was requested, or empty without
   * TLS}
   */
  Optional<SSLSession> tls();

  /** {@return the subprotocol that was agreed on; empty if there is none} */
  Optional<String> subprotocol();

  /** {@return the messages that the client sends} A second iteration continues the first. */
  Iterable<WebSocketMessage> messages();

  /**
   * {@return the texts that the client sends} If the client sends bytes, the connection is closed
   * with 1003. A second iteration continues the first.
   *
   * <p>The server reads no faster than the handler takes the texts. So a handler that waits slows
   * down a client that sends too fast, for example to 20 texts a second:
   * {@snippet class="io.fibry.WebSocketSnippetsTest" region="limitedSender"}
   */
  Iterable<String> texts();

  /**
   * Returns the texts that the client sends, as values of another type.
   *
   * @param <T> the type of the values
   * @param reader converts a text to a value. If it throws an IllegalArgumentException, such as a
   * NumberFormatException, the connection is closed with 1007
   * @return the values; a second iteration continues the first
   */
  <T> Iterable<T> texts(Function<String, T> reader);

  /**
   * {@return an actor whose messages are texts for the client; always the same actor} Senders do
   * not wait. When more than {@code withMaxUnsent} bytes are unsent, the client is cut off. One
   * large burst of messages can cause this, even if the client reads fast; {@link #unsentBytes}
   * shows it in advance. The actor ends with the connection. The close of the connection first
   * writes the messages that the actor has accepted, within the write limit. If the client was cut
   * off or has disconnected without a close, the actor ends with
   * {@link io.fibry.ExitReason.Stopped}. If a user ends the actor, the connection closes. A message
   * that is not written, or has half a pair of surrogates, becomes a dead letter.
   *
   * <p>A client that is cut off because of its unsent bytes gets the rest of the present message,
   * and then a close with 1008 and the reason. Both must be written within the write limit.
   * Otherwise the connection is reset without a close, because no close can follow half a message.
   * A client that exceeds the write limit or the idle limit gets no close, either. Meanwhile the
   * client's messages are dropped. Reading throws after the close, and the log has the reason.
   */
  Actor<String> textActor();

  /**
   * {@return the same actor as {@link #textActor}, for messages of bytes} Texts and bytes reach the
   * client in the order in which they were sent. An array must not be changed once it was sent.
   */
  Actor<byte[]> binaryActor();

  /**
   * {@return how many bytes of the actor's messages are not yet written to the socket} Each message
   * counts as its own bytes and 32 bytes more, as for {@link WebSocketOptions#withMaxUnsent}; 0
   * means that all messages are written. A handler can skip an update for a client that has not
   * received the previous update, also if the updates come from a topic. The method only reads a
   * counter.
   * {@snippet class="io.fibry.WebSocketSnippetsTest" region="unsent"}
   */
  long unsentBytes();

  /**
   * Closes the connection once the messages that were sent to the actor are written. This method
   * never waits. If the method is called several times, the first call counts. After the close
   * frame of the server, the client has two seconds to close, too.
   *
   * @param code 1000 for the normal end; 1001 to 1014 without 1004 to 1006, as in the registry of
   * IANA; 3000 to 3999 for codes that are registered there; 4000 to 4999 for your own codes
   * @param reason at most 123 bytes of UTF-8
   * @throws IllegalArgumentException if a close frame cannot have this code or reason
   */
  void close(int code, String reason);

  /** Closes the connection with 1000, or with 1001 if the server ends. */
  @Override
  void close();

  /** {@return how the client has closed; empty if the client has not closed} */
  Optional<WebSocketClose> peerClose();
}
