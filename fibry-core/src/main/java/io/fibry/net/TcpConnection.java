package io.fibry.net;

import io.fibry.Actor;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;

/**
 * A client of an acceptor. Reading belongs to the thread of its handler; the rest is thread-safe.
 * It is closed when the handler returns or throws.
 * {@snippet class="io.fibry.TcpSnippetsTest" region="connection"}
 *
 * <p>Reading ends at the end of the stream only when the client has closed its side. A client that
 * goes in any other way, or is cut off by a limit, is an {@code IOException}; from {@link #lines}
 * and {@link #frames} an {@link java.io.UncheckedIOException} around it.
 */
public interface TcpConnection extends AutoCloseable {

  /**
   * Where the client is.
   *
   * @return its address and port
   */
  InetSocketAddress remoteAddress();

  /**
   * What the client sends: a socket's stream, with a buffer. At the end it answers -1; a handler
   * that goes on reading gets that a thousand times, then an {@link java.io.EOFException}, so that
   * no loop that forgot to look runs for ever. Closing it closes the connection.
   *
   * @return always the same stream
   */
  InputStream getInputStream();

  /**
   * What is sent to the client, unbuffered: each write goes out at once and whole, whoever else
   * writes. Closing it closes the connection.
   *
   * @return always the same stream
   */
  OutputStream getOutputStream();

  /**
   * The lines as they come, to the end of the stream: UTF-8, where what is malformed is replaced;
   * each ended by {@code \n}, {@code \r\n} or {@code \r}, the last one perhaps by the end. A longer
   * one than {@code withMaxFrame} allows is a {@link java.net.ProtocolException}. A second
   * iteration goes on where the one before stopped.
   *
   * @return the lines; never with a line end inside
   */
  Iterable<String> lines();

  /**
   * The frames as they come, to the end of the stream: four bytes say how many follow, the highest
   * first. A length below zero, or over what {@code withMaxFrame} allows, is a
   * {@link java.net.ProtocolException}; an end within a frame an {@link java.io.EOFException}. No
   * more memory is taken than has come, doubled. A second iteration goes on where the one before
   * stopped.
   *
   * @return the frames
   */
  Iterable<byte[]> frames();

  /**
   * The client as an actor: a message is a line for it, to which {@code \n} is added. What is sent
   * from anywhere is written in order, and no sender waits: a client that leaves more unsent than
   * {@code withMaxUnsent} allows is cut off. It ends with the connection, whose close first writes
   * what was sent, as far as the write limit lets it. What is not written is a dead letter, and so
   * is a line with a line end inside.
   *
   * @return made at the first call, then always the same
   */
  Actor<String> lineActor();

  /**
   * The client as an actor: a message is a frame for it, before which its length is written in four
   * bytes. The same as {@link #lineActor} otherwise; an array must not be changed after it was
   * sent.
   *
   * @return made at the first call, then always the same
   */
  Actor<byte[]> frameActor();

  /** Writes what was sent to its actors, and closes it. */
  @Override
  void close();
}
