package io.fibry.net;

import io.fibry.Actor;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;

/** A connection as its handler sees it. */
final class ClientConnection implements TcpConnection {
  private final Listener.Conversation conversation;
  private final ClientSocket link;
  private final TcpOptions options;
  private ClientLines lines; // the reader's
  private ClientFrames frames; // the reader's
  private volatile ClientOutbox<String> lineBox; // null -> one, under the monitor
  private volatile ClientOutbox<byte[]> frameBox; // null -> one, under the monitor

  ClientConnection(Listener.Conversation conversation, TcpOptions options) {
    this.conversation = conversation;
    this.link = conversation.link;
    this.options = options;
  }

  @Override
  public InetSocketAddress remoteAddress() {
    return link.remoteAddress();
  }

  @Override
  public InputStream getInputStream() {
    return link.in;
  }

  @Override
  public OutputStream getOutputStream() {
    return link.out;
  }

  @Override
  public Iterable<String> lines() {
    if (lines == null) lines = new ClientLines(link, options.frame);
    return lines;
  }

  @Override
  public Iterable<byte[]> frames() {
    if (frames == null) frames = new ClientFrames(link, options.frame);
    return frames;
  }

  @Override
  public Actor<String> lineActor() {
    var box = lineBox;
    return box != null ? box.actor() : makeLineActor();
  }

  private synchronized Actor<String> makeLineActor() {
    if (lineBox == null)
      lineBox = new ClientOutbox<>(conversation.how, "lines", link, options.unsent, ClientLines.FORM);
    return lineBox.actor();
  }

  @Override
  public Actor<byte[]> frameActor() {
    var box = frameBox;
    return box != null ? box.actor() : makeFrameActor();
  }

  private synchronized Actor<byte[]> makeFrameActor() {
    if (frameBox == null)
      frameBox = new ClientOutbox<>(conversation.how, "frames", link, options.unsent, ClientFrames.FORM);
    return frameBox.actor();
  }

  @Override
  public void close() {
    if (lineBox != null) lineBox.finish();
    if (frameBox != null) frameBox.finish();
    link.close();
  }

  boolean isOpen() {
    return !link.isClosed();
  }

  @Override
  public String toString() {
    return link.toString();
  }
}
