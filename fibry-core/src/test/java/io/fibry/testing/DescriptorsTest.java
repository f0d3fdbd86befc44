package io.fibry.testing;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import org.junit.jupiter.api.Test;

class DescriptorsTest {
  private static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();

  /** A connection of an ended server still has the port, but does not listen. */
  @Test
  void portIsListeningOnlyUntilItsServerSocketCloses() throws Exception {
    Descriptors.countOpen(); // skips the test if descriptors are not shown
    var server = new ServerSocket(0, 1, LOOPBACK);
    var datagramSocket = new DatagramSocket(0, LOOPBACK);
    try (server;
        datagramSocket;
        var client = new Socket(LOOPBACK, server.getLocalPort());
        var connection = server.accept()) {
      assertTrue(Descriptors.isListeningIfShown(server.getLocalPort()));
      assertTrue(Descriptors.isListeningIfShown(datagramSocket.getLocalPort()));
      assertFalse(Descriptors.isListeningIfShown(client.getLocalPort()));
      int port = datagramSocket.getLocalPort();

      server.close();
      datagramSocket.close();

      assertFalse(Descriptors.isListeningIfShown(connection.getLocalPort()));
      assertFalse(Descriptors.isListeningIfShown(port));
    }
  }

  @Test
  void portOfServerSocketOnWildcardAddressIsListening() throws Exception {
    Descriptors.countOpen(); // skips the test if descriptors are not shown
    try (var server = new ServerSocket()) {
      server.bind(new InetSocketAddress(0));

      assertTrue(Descriptors.isListeningIfShown(server.getLocalPort()));
    }
  }
}
