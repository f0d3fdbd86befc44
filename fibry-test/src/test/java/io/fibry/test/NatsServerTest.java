package io.fibry.test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.ArrayDeque;
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
  private static int free() throws Exception {
    try (var socket = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
      return socket.getLocalPort();
    }
  }

  @Test
  void serverWhosePortIsTakenStartsAtAnother() throws Exception {
    try (var taken = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
      int port = free();
      var ports = new ArrayDeque<>(List.of(List.of(taken.getLocalPort(), free()), List.of(port, free())));
      try (var server = NatsServer.start(folder, "", ports::remove)) {
        assertEquals("nats://127.0.0.1:" + port, server.url());
      }
      assertTrue(ports.isEmpty());
    }
  }

  /** It answers as the own one would. */
  @Test
  void serverOfAnotherProgramIsNotTakenForOwn() throws Exception {
    try (var other = NatsServer.start(folder.resolve("other"))) {
      int taken = Integer.parseInt(other.url().replaceAll(".*:", ""));
      int port = free();
      var ports = new ArrayDeque<>(List.of(List.of(taken, free()), List.of(port, free())));
      try (var server = NatsServer.start(folder.resolve("own"), "", ports::remove)) {
        assertEquals("nats://127.0.0.1:" + port, server.url());
      }
    }
  }
}
