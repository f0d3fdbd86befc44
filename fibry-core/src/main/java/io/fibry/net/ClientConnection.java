package io.fibry.net;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.Handler;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.util.Optional;
import javax.net.ssl.SSLSession;

/** A connection as its handler sees it. */
final class ClientConnection implements TcpConnection, Listener.Conversation {
  final ClientSocket socket;
  final ClientInput in;
  private final ClientOutput out;
  private final ActorBuilder<Object> builder;
  private final TcpOptions options;
  private final Handler<? super ClientConnection> handler;
  private ClientLineReader lines; // of the reader
  private ClientFrameReader frames; // of the reader
  // null -> one, under the monitor; read by any thread
  private volatile ClientOutbox<String> lineOutbox;
  private volatile ClientOutbox<byte[]> frameOutbox;

  ClientConnection(ClientSocket socket, ActorBuilder<Object> builder, TcpOptions options,
      Handler<? super ClientConnection> handler) {
    this.socket = socket;
    this.in = new ClientInput(socket);
    this.out = new ClientOutput(socket);
    this.builder = builder;
    this.options = options;
    this.handler = handler;
  }

  @Override
  public void converse() throws Exception {
    try (this) {
      handler.handle(this);
    } finally {
      in.drop();
    }
  }

  @Override
  public ClientSocket socket() {
    return socket;
  }

  @Override
  public InetSocketAddress remoteAddress() {
    return socket.remoteAddress();
  }

  @Override
  public Optional<SSLSession> tls() {
    return socket.tls();
  }

  @Override
  public InputStream inputStream() {
    return in;
  }

  @Override
  public OutputStream outputStream() {
    return out;
  }

  @Override
  public Iterable<String> lines() {
    if (lines == null) lines = new ClientLineReader(in, options.frame);
    return lines;
  }

  @Override
  public Iterable<byte[]> frames() {
    if (frames == null) frames = new ClientFrameReader(in, options.frame);
    return frames;
  }

  @Override
  public Actor<String> lineActor() {
    var outbox = lineOutbox;
    return outbox != null ? outbox.actor : makeLineActor();
  }

  private synchronized Actor<String> makeLineActor() {
    if (lineOutbox == null) lineOutbox = outbox("lines", ClientLineReader.FORMAT);
    return lineOutbox.actor;
  }

  @Override
  public Actor<byte[]> frameActor() {
    var outbox = frameOutbox;
    return outbox != null ? outbox.actor : makeFrameActor();
  }

  private synchronized Actor<byte[]> makeFrameActor() {
    if (frameOutbox == null) frameOutbox = outbox("frames", ClientFrameReader.FORMAT);
    return frameOutbox.actor;
  }

  private <M> ClientOutbox<M> outbox(String name, ClientOutbox.LineFormat<M> format) {
    return new ClientOutbox<>(builder, name, socket, options.unsent, format);
  }

  @Override
  public void close() {
    socket.stopTracking();
    if (lineOutbox != null) lineOutbox.finish();
    if (frameOutbox != null) frameOutbox.finish();
    socket.close();
  }

  @Override
  public String toString() {
    return socket.toString();
  }
}
