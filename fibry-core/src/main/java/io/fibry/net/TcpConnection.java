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
   * {@return the TLS session, with the client's certificate if one was requested, or empty without
   * TLS}
   */
  Optional<SSLSession> tls();

  /**
   * {@return the bytes of the client, buffered; always the same stream} At the end a read returns
   * -1, and the thousandth such read throws an {@link java.io.EOFException}. Closing it closes the
   * connection.
   */
  InputStream inputStream();

  /**
   * {@return the output to the client; always the same stream} Each write is sent at once and as a
   * whole. Closing it closes the connection.
   */
  OutputStream outputStream();

  /**
   * {@return the lines the client sends} They end with {@code \n}, {@code \r\n}, {@code \r} or the
   * stream. Malformed UTF-8 is replaced. One longer than {@code withMaxFrame} is a
   * {@link java.net.ProtocolException}. A second iteration continues the first.
   */
  Iterable<String> lines();

  /**
   * {@return the frames of the client, each behind its length in four bytes, the highest byte
   * first} A negative length, or a length above {@code withMaxFrame}, is a
   * {@link java.net.ProtocolException}. An end within a frame is an {@link java.io.EOFException}. A
   * second iteration continues the first.
   */
  Iterable<byte[]> frames();

  /**
   * {@return an actor whose messages are lines for the client; always the same} Its senders do not
   * wait. When more than {@code withMaxUnsent} bytes are unsent, the client is cut off, even if a
   * single burst is that large. The actor ends with the connection, whose close first writes what
   * was sent, within the write limit: {@link io.fibry.ExitReason.Stopped} if it was cut off. A
   * message that is not written, or has a line end inside, is a dead letter.
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
