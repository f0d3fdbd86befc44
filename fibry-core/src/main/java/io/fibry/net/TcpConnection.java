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
 * <p>A read finds the end of the stream only if the client has closed its side. If the client has
 * disconnected in another way, or was cut off, reading throws an {@code IOException};
 * {@link #lines} and {@link #frames} wrap it in an {@link java.io.UncheckedIOException}.
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
   * -1, and after a thousand such reads the next read throws an {@link java.io.EOFException}.
   * Closing the stream closes the connection.
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
   * not wait. When more than {@code withMaxUnsent} bytes are unsent, the client is cut off, even if
   * a single burst is that large. The actor ends with the connection. Closing the connection first
   * writes the lines that were sent, within the write limit. If the client was cut off, the actor
   * ends with {@link io.fibry.ExitReason.Stopped}. A line that is not written, or has a line end
   * inside, becomes a dead letter.
   */
  Actor<String> lineActor();

  /**
   * {@return an actor whose messages are frames for the client; otherwise as {@link #lineActor}} An
   * array must not be changed once it was sent.
   */
  Actor<byte[]> frameActor();

  /**
   * Writes the messages that were sent to the actors of this connection, and closes the connection.
   */
  @Override
  void close();
}
