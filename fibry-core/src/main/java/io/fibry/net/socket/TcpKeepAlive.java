package io.fibry.net.socket;

import java.io.IOException;
import java.net.Socket;
import java.net.SocketOption;

/**
 * Makes the operating system detect that a client has disconnected. The system probes a client that
 * was silent for 30 seconds, three times, 10 seconds apart. Enabled by the first check of the
 * limits, so that short connections do not pay for it.
 */
final class TcpKeepAlive {
  private TcpKeepAlive() {}

  static void enable(Socket socket) {
    try {
      socket.setKeepAlive(true);
      for (var option : socket.supportedOptions()) {
        switch (option.name()) {
          case "TCP_KEEPIDLE" -> set(socket, option, 30);
          case "TCP_KEEPINTERVAL" -> set(socket, option, 10);
          case "TCP_KEEPCOUNT" -> set(socket, option, 3);
          default -> {}
        }
      }
    } catch (IOException | UnsupportedOperationException unsupported) {}
  }

  @SuppressWarnings("unchecked") // these three are numbers
  private static void set(Socket socket, SocketOption<?> option, int value) throws IOException {
    socket.setOption((SocketOption<Integer>) option, value);
  }
}
