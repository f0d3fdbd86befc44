package io.fibry.net;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.Handler;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;

/** A connection as its handler sees it. */
final class ClientConnection implements TcpConnection, Listener.Conversation {
  final ClientSocket socket;
  final ClientInput in;
  private final ClientOutput out;
  private final ActorBuilder<Object> how; // named after the client
  private final TcpOptions options;
  private final Handler<? super ClientConnection> handler;
  private ClientLines lines; // the reader's
  private ClientFrames frames; // the reader's
  private volatile ClientOutbox<String> lineBox; // null -> one, under the monitor
  private volatile ClientOutbox<byte[]> frameBox; // null -> one, under the monitor

  ClientConnection(ClientSocket socket, ActorBuilder<Object> how, TcpOptions options,
      Handler<? super ClientConnection> handler) {
    this.socket = socket;
    this.in = new ClientInput(socket);
    this.out = new ClientOutput(socket);
    this.how = how;
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
  public InetSocketAddress remoteAddress() {
    return socket.remoteAddress();
  }

  @Override
  public InputStream getInputStream() {
    return in;
  }

  @Override
  public OutputStream getOutputStream() {
    return out;
  }

  @Override
  public Iterable<String> lines() {
    if (lines == null) lines = new ClientLines(in, options.frame);
    return lines;
  }

  @Override
  public Iterable<byte[]> frames() {
    if (frames == null) frames = new ClientFrames(in, options.frame);
    return frames;
  }

  @Override
  public Actor<String> lineActor() {
    var box = lineBox;
    return box != null ? box.actor() : makeLineActor();
  }

  private synchronized Actor<String> makeLineActor() {
    if (lineBox == null)
      lineBox = new ClientOutbox<>(how, "lines", socket, options.unsent, ClientLines.FORM);
    return lineBox.actor();
  }

  @Override
  public Actor<byte[]> frameActor() {
    var box = frameBox;
    return box != null ? box.actor() : makeFrameActor();
  }

  private synchronized Actor<byte[]> makeFrameActor() {
    if (frameBox == null)
      frameBox = new ClientOutbox<>(how, "frames", socket, options.unsent, ClientFrames.FORM);
    return frameBox.actor();
  }

  @Override
  public void close() {
    if (lineBox != null) lineBox.finish();
    if (frameBox != null) frameBox.finish();
    socket.close();
  }

  @Override
  public String toString() {
    return socket.toString();
  }
}
