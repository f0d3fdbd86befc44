package io.fibry.test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the start of a nats-server when another program uses the chosen port. */
class NatsServerTest {
  @TempDir
  Path folder;

  @BeforeEach
  void requireServer() {
    boolean isInstalled = NatsServer.find().isPresent();
    if (!isInstalled && "required".equals(System.getProperty("fibry.nats"))) throw new AssertionError("no nats-server");
    assumeTrue(isInstalled, "no nats-server");
  }

  /** Returns a port that no program used a moment ago. */
  private static int freePort() {
    try (var socket = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
      return socket.getLocalPort();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /**
   * Returns two ports. At the first call, the first port is the taken port. Each later call returns
   * other ports, because another program may take these ports, too.
   */
  private static List<Integer> ports(int takenPort, List<Integer> triedPorts) {
    triedPorts.add(triedPorts.isEmpty() ? takenPort : freePort());
    return List.of(triedPorts.getLast(), freePort());
  }

  @Test
  void serverStartsAtAnotherPortIfPortIsTaken() throws Exception {
    try (var occupiedSocket = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
      var triedPorts = new ArrayList<Integer>();
      try (var server = NatsServer.start(folder, "", () -> ports(occupiedSocket.getLocalPort(), triedPorts))) {
        assertEquals("nats://127.0.0.1:" + triedPorts.getLast(), server.url());
      }
      assertTrue(triedPorts.size() > 1);
    }
  }

  /** The foreign server responds exactly as the server of the test would. */
  @Test
  void foreignServerIsNotMistakenForServerOfTest() throws Exception {
    try (var foreignServer = NatsServer.start(folder.resolve("other"))) {
      int takenPort = Integer.parseInt(foreignServer.url().replaceAll(".*:", ""));
      var triedPorts = new ArrayList<Integer>();
      try (var server = NatsServer.start(folder.resolve("own"), "", () -> ports(takenPort, triedPorts))) {
        assertEquals("nats://127.0.0.1:" + triedPorts.getLast(), server.url());
      }
      assertTrue(triedPorts.size() > 1);
    }
  }
}
