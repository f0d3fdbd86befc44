package io.fibry.net.socket;

import java.io.IOException;
import java.io.OutputStream;

/** The output to a client, without a buffer. Each write is sent as a whole. Thread-safe. */
public final class ClientOutput extends OutputStream {
  private final ClientSocket socket;

  public ClientOutput(ClientSocket socket) {
    this.socket = socket;
  }

  @Override
  public void write(int b) throws IOException {
    socket.send(new byte[] {(byte) b}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int offset, int length) throws IOException {
    socket.send(bytes, offset, length);
  }

  @Override
  public void close() {
    socket.close();
  }

  @Override
  public String toString() {
    return "the output to " + socket;
  }
}
