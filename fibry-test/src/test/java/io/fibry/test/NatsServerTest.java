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

/** A nats-server whose port another program has. */
class NatsServerTest {
  @TempDir
  Path folder;

  @BeforeEach
  void find() {
    boolean there = NatsServer.find().isPresent();
    if (!there && "required".equals(System.getProperty("fibry.nats"))) throw new AssertionError("no nats-server");
    assumeTrue(there, "no nats-server");
  }

  /** A port that no program has, as far as one can know. */
  private static int free() {
    try (var socket = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
      return socket.getLocalPort();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /**
   * Returns first the taken port, and then others, because another program may take one of them,
   * too.
   */
  private static List<Integer> ports(int taken, List<Integer> tried) {
    tried.add(tried.isEmpty() ? taken : free());
    return List.of(tried.getLast(), free());
  }

  @Test
  void serverWhosePortIsTakenStartsAtAnother() throws Exception {
    try (var taken = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
      var tried = new ArrayList<Integer>();
      try (var server = NatsServer.start(folder, "", () -> ports(taken.getLocalPort(), tried))) {
        assertEquals("nats://127.0.0.1:" + tried.getLast(), server.url());
      }
      assertTrue(tried.size() > 1);
    }
  }

  /** It answers as the own one would. */
  @Test
  void foreignServerIsNotMistakenForOwn() throws Exception {
    try (var other = NatsServer.start(folder.resolve("other"))) {
      int taken = Integer.parseInt(other.url().replaceAll(".*:", ""));
      var tried = new ArrayList<Integer>();
      try (var server = NatsServer.start(folder.resolve("own"), "", () -> ports(taken, tried))) {
        assertEquals("nats://127.0.0.1:" + tried.getLast(), server.url());
      }
      assertTrue(tried.size() > 1);
    }
  }
}
