package io.fibry.net;

import io.fibry.Actor;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.util.Optional;
import javax.net.ssl.SSLSession;

/**
 * A connection of an acceptor, closed when its handler returns or throws. Only the handler's thread
 * may read; the other methods are thread-safe.
 * {@snippet class="io.fibry.TcpSnippetsTest" region="connection"}
 *
 * <p>A read finds the end of the stream only if the client has closed its side, or after
 * {@link TcpAcceptor#askExit}. Reading throws an {@code IOException} if the client has disconnected
 * in another way, or if the acceptor has cut the client off, for example because of a limit.
 * {@link #lines} and {@link #frames} wrap the exception in an {@link java.io.UncheckedIOException}.
 */
public interface TcpConnection extends AutoCloseable {

  /** {@return the client's address} */
  InetSocketAddress remoteAddress();

  /**
   * {@return the TLS session, with the client's certificate if one was requested, or empty without
   * TLS}
   */
  Optional<SSLSession> tls();

  /**
   * {@return the bytes of the client, buffered; always the same stream} At the end a read returns
   * -1. After a thousand such reads the next read throws an {@link java.io.EOFException}, which
   * ends the loop of a handler that ignores -1. Closing the stream closes the connection.
   */
  InputStream inputStream();

  /**
   * {@return the output to the client; always the same stream} Each write is sent at once and as a
   * whole. Closing the stream closes the connection.
   */
  OutputStream outputStream();

  /**
   * {@return the lines that the client sends} A line ends with {@code \n}, {@code \r\n}, {@code \r}
   * or the end of the stream. Malformed UTF-8 is replaced. A line longer than {@code withMaxFrame}
   * causes a {@link java.net.ProtocolException}. A second iteration continues the first.
   */
  Iterable<String> lines();

  /**
   * {@return the frames that the client sends} Four bytes with the length precede each frame, the
   * highest byte first. A negative length, or a length above {@code withMaxFrame}, causes a
   * {@link java.net.ProtocolException}. A stream that ends within a frame causes an
   * {@link java.io.EOFException}. A second iteration continues the first.
   */
  Iterable<byte[]> frames();

  /**
   * {@return an actor whose messages are lines for the client; always the same actor} Senders do
   * not wait. When more than {@code withMaxUnsent} bytes are unsent, the client is cut off. One
   * large burst of lines can cause this, even if the client reads fast. The actor ends with the
   * connection. Closing the connection first writes the lines that the actor has accepted, within
   * the write limit. If the client was cut off, the actor ends with
   * {@link io.fibry.ExitReason.Stopped}. A line that is not written, or has a line end inside,
   * becomes a dead letter.
   */
  Actor<String> lineActor();

  /**
   * {@return an actor whose messages are frames for the client; always the same actor} This actor
   * has the same limits as {@link #lineActor}, and ends in the same cases. An array must not be
   * changed once it was sent.
   */
  Actor<byte[]> frameActor();

  /**
   * Writes the messages that the actors of this connection have accepted, and closes the
   * connection.
   */
  @Override
  void close();
}
