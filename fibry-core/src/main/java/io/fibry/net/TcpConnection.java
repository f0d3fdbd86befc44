package io.fibry.net;

import io.fibry.Actor;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.util.Optional;
import javax.net.ssl.SSLSession;

/**
 * A connection of an acceptor, closed when its handler returns or throws. Reading belongs to the
 * handler's thread; the rest is thread-safe.
 * {@snippet class="io.fibry.TcpSnippetsTest" region="connection"}
 *
 * <p>Reading finds the end of the stream only if the client has closed its side. A client that is
 * gone otherwise, or was cut off, is an {@code IOException}; {@link #lines} and {@link #frames}
 * wrap it in an {@link java.io.UncheckedIOException}.
 */
public interface TcpConnection extends AutoCloseable {

  /** {@return the client's address} */
  InetSocketAddress remoteAddress();

  /**
   * {@return what was agreed on with the client, and its certificate if it was asked for one;
   * empty: not through TLS}
   */
  Optional<SSLSession> tls();

  /**
   * {@return what the client sends, buffered; always the same stream} At the end a read returns -1,
   * the thousandth throws an {@link java.io.EOFException}. Closing it closes the connection.
   */
  InputStream getInputStream();

  /**
   * {@return what is sent to the client; always the same stream} Each write goes out at once and
   * whole. Closing it closes the connection.
   */
  OutputStream getOutputStream();

  /**
   * {@return the lines the client sends} They end with {@code \n}, {@code \r\n}, {@code \r} or the
   * stream. Malformed UTF-8 is replaced. One longer than {@code withMaxFrame} is a
   * {@link java.net.ProtocolException}. A second iteration continues the first.
   */
  Iterable<String> lines();

  /**
   * {@return the frames the client sends, each after its length in four bytes, the highest first} A
   * negative length, or one above {@code withMaxFrame}, is a {@link java.net.ProtocolException}; an
   * end within a frame is an {@link java.io.EOFException}. A second iteration continues the first.
   */
  Iterable<byte[]> frames();

  /**
   * {@return an actor whose messages are lines for the client; always the same} No sender waits:
   * when more than {@code withMaxUnsent} bytes are unsent, the client is cut off, also if a single
   * burst is that large. The actor ends with the connection, whose close first writes what was
   * sent, within the write limit: {@link io.fibry.ExitReason.Stopped} if it was cut off. A message
   * that is not written, or has a line end inside, is a dead letter.
   */
  Actor<String> lineActor();

  /**
   * {@return the same as {@link #lineActor} for frames} An array must not be changed once it was
   * sent.
   */
  Actor<byte[]> frameActor();

  /** Writes what was sent to its actors, and closes the connection. */
  @Override
  void close();
}
