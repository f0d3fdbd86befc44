package io.fibry.net.tcp;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.Handler;
import io.fibry.net.TcpConnection;
import io.fibry.net.socket.ClientInput;
import io.fibry.net.socket.ClientOutbox;
import io.fibry.net.socket.ClientOutput;
import io.fibry.net.socket.ClientSocket;
import io.fibry.net.socket.Listener;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.util.Optional;
import javax.net.ssl.SSLSession;

/** The {@link TcpConnection} that is given to a handler. */
final class ClientConnection implements TcpConnection, Listener.Conversation {
  final ClientSocket socket;
  final ClientInput in;
  private final ClientOutput out;
  private final ActorBuilder<Object> builder;
  private final TcpSettings settings;
  private final Handler<? super ClientConnection> handler;
  private TcpLineReader lineReader; // used by the thread that reads; null until first requested
  private ClientFrameReader frameReader; // used by the thread that reads; null until first requested
  // null until first requested; written once under the monitor, read by any thread
  private volatile ClientOutbox<String> lineOutbox;
  private volatile ClientOutbox<byte[]> frameOutbox;

  ClientConnection(ClientSocket socket, ActorBuilder<Object> builder, TcpSettings settings,
      Handler<? super ClientConnection> handler) {
    this.socket = socket;
    this.in = new ClientInput(socket);
    this.out = new ClientOutput(socket);
    this.builder = builder;
    this.settings = settings;
    this.handler = handler;
  }

  @Override
  public void converse() throws Exception {
    try (this) {
      handler.handle(this);
    } finally {
      in.releaseBuffer();
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
    if (lineReader == null) lineReader = new TcpLineReader(in, settings.maxFrame());
    return lineReader;
  }

  @Override
  public Iterable<byte[]> frames() {
    if (frameReader == null) frameReader = new ClientFrameReader(in, settings.maxFrame());
    return frameReader;
  }

  @Override
  public Actor<String> lineActor() {
    var outbox = lineOutbox;
    return outbox != null ? outbox.actor : makeLineActor();
  }

  private synchronized Actor<String> makeLineActor() {
    if (lineOutbox == null) lineOutbox = newOutbox("lines", TcpLineReader.FORMAT);
    return lineOutbox.actor;
  }

  @Override
  public Actor<byte[]> frameActor() {
    var outbox = frameOutbox;
    return outbox != null ? outbox.actor : makeFrameActor();
  }

  private synchronized Actor<byte[]> makeFrameActor() {
    if (frameOutbox == null) frameOutbox = newOutbox("frames", ClientFrameReader.FORMAT);
    return frameOutbox.actor;
  }

  private <M> ClientOutbox<M> newOutbox(String name, ClientOutbox.MessageFormat<M> format) {
    return new ClientOutbox<>(builder, name, socket, settings.maxUnsent(), format);
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
