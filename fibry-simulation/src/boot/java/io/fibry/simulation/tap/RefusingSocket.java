package io.fibry.simulation.tap;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.SocketAddress;
import java.net.SocketImpl;
import sun.net.PlatformSocketImpl;

/**
 * A socket that the JDK accepts as one of its own implementations. Operations that the subclass
 * does not override throw an {@link IOException}, or do nothing.
 */
public abstract class RefusingSocket extends SocketImpl implements PlatformSocketImpl {

  @Override
  protected void create(boolean stream) throws IOException {
    if (!stream) throw refused("datagrams");
  }

  @Override
  protected void connect(String host, int port) throws IOException {
    throw refused("connect");
  }

  @Override
  protected void connect(InetAddress address, int port) throws IOException {
    throw refused("connect");
  }

  @Override
  protected void connect(SocketAddress address, int timeout) throws IOException {
    throw refused("connect");
  }

  @Override
  protected void bind(InetAddress host, int port) throws IOException {
    throw refused("bind");
  }

  @Override
  protected void listen(int backlog) throws IOException {
    throw refused("listen");
  }

  @Override
  protected void accept(SocketImpl accepted) throws IOException {
    throw refused("accept");
  }

  @Override
  protected InputStream getInputStream() throws IOException {
    throw refused("inputStream");
  }

  @Override
  protected OutputStream getOutputStream() throws IOException {
    throw refused("outputStream");
  }

  @Override
  protected int available() throws IOException {
    return 0;
  }

  @Override
  protected void close() throws IOException {}

  @Override
  protected void sendUrgentData(int data) throws IOException {
    throw refused("urgent data");
  }

  @Override
  public void setOption(int option, Object value) {}

  @Override
  public Object getOption(int option) {
    return 0;
  }

  private static IOException refused(String operation) {
    return new IOException("a simulated socket does not do this: " + operation);
  }
}
