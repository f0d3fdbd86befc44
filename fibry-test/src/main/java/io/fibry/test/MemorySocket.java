package io.fibry.test;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketOption;
import java.util.Set;

/** One side of a connection within this process. It needs neither a port nor a file descriptor. */
final class MemorySocket extends Socket {
  private final int remotePort;
  private final MemoryPipe input; // the other side's output
  private final MemoryPipe output; // the other side's input
  private volatile boolean isResetOnClose;
  private volatile boolean isClosed;

  MemorySocket(int remotePort, MemoryPipe input, MemoryPipe output) {
    this.remotePort = remotePort;
    this.input = input;
    this.output = output;
  }

  @Override
  public InputStream getInputStream() {
    return new InputStream() {
      @Override
      public int read() throws IOException {
        var one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
      }

      @Override
      public int read(byte[] bytes, int offset, int length) throws IOException {
        return input.read(bytes, offset, length);
      }

      @Override
      public int available() throws IOException {
        return input.available();
      }

      @Override
      public void close() {
        MemorySocket.this.close();
      }
    };
  }

  @Override
  public OutputStream getOutputStream() {
    return new OutputStream() {
      @Override
      public void write(int b) throws IOException {
        write(new byte[] {(byte) b}, 0, 1);
      }

      @Override
      public void write(byte[] bytes, int offset, int length) throws IOException {
        if (isClosed) throw new SocketException("the socket is closed");
        output.write(bytes, offset, length);
      }

      @Override
      public void close() {
        MemorySocket.this.close();
      }
    };
  }

  @Override
  public void shutdownInput() {
    input.endReads();
  }

  @Override
  public void shutdownOutput() {
    output.end();
  }

  @Override
  public void close() {
    isClosed = true;
    input.closeReader();
    if (isResetOnClose) output.reset();
    else output.end();
  }

  @Override
  public boolean isClosed() {
    return isClosed;
  }

  @Override
  public boolean isConnected() {
    return true;
  }

  @Override
  public InetAddress getInetAddress() {
    return InetAddress.getLoopbackAddress();
  }

  @Override
  public SocketAddress getRemoteSocketAddress() {
    return new InetSocketAddress(getInetAddress(), remotePort);
  }

  @Override
  public void setSoLinger(boolean on, int seconds) {
    isResetOnClose = on && seconds == 0;
  }

  @Override
  public void setTcpNoDelay(boolean on) {}

  @Override
  public void setKeepAlive(boolean on) {}

  @Override
  public Set<SocketOption<?>> supportedOptions() {
    return Set.of();
  }
}
