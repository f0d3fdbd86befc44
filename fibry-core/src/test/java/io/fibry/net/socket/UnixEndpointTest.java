package io.fibry.net.socket;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.fibry.support.Child;
import io.fibry.support.Patience;
import io.fibry.testing.Promise;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.FileChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests which files a Unix domain socket replaces, refuses and deletes. */
class UnixEndpointTest {
  private static final int ROUNDS = 50;

  @TempDir
  Path folder;
  private Path file;

  @BeforeEach
  void nameFile() {
    file = folder.resolve("server.sock");
    assumeTrue(file.toString().length() < 100, "the temporary folder has a long name");
  }

  /** Leaves the file of a server socket, as a killed process does. */
  private void leaveFile() throws IOException {
    try (var left = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      left.bind(UnixDomainSocketAddress.of(file));
    }
    assertTrue(Files.exists(file));
  }

  private void assertRefused(String reason) {
    var refusal = assertThrows(UncheckedIOException.class, () -> UnixEndpoint.bind(file));

    assertEquals("cannot listen on the Unix domain socket " + file + ": " + reason, refusal.getMessage());
  }

  /** A connection to a named pipe fails as a connection to the socket of a killed process does. */
  @Promise("25.15")
  @Test
  void namedPipeIsRefusedAndKept() throws IOException {
    try {
      Child.start(List.of("mkfifo", file.toString())).awaitExit(0);
    } catch (UncheckedIOException missing) {
      assumeTrue(false, "this system has no mkfifo");
    }
    assertTrue(Files.exists(file));

    assertRefused("the file exists and is no socket; delete it, or give another file");

    assertTrue(Files.exists(file));
  }

  @Promise("25.15")
  @Test
  void linkToSocketIsRefusedAndKept() throws IOException {
    var target = folder.resolve("target.sock");
    UnixEndpoint.bind(target).close();
    Files.createSymbolicLink(file, target);

    assertRefused("the file exists and is no socket; delete it, or give another file");

    assertTrue(Files.isSymbolicLink(file));
  }

  @Promise("25.15")
  @Test
  void oneOfServersThatStartTogetherGetsFile() throws IOException {
    for (int round = 0; round < ROUNDS; round++) {
      leaveFile();
      var start = new CountDownLatch(1);
      var starts = Stream.generate(() -> Patience.callOnFiber(() -> {
        Patience.await(start);
        return UnixEndpoint.bind(file);
      })).limit(4).toList();
      start.countDown();

      Patience.eventually(() -> starts.stream().allMatch(CompletableFuture::isDone));
      var servers = starts.stream().filter(it -> !it.isCompletedExceptionally()).map(CompletableFuture::join).toList();
      assertEquals(1, servers.size());
      SocketChannel.open(UnixDomainSocketAddress.of(file)).close();
      servers.getFirst().close();
    }
  }

  /** Another process holds the lock while it checks the file. */
  @Promise("25.15")
  @Test
  void serverIsRefusedWhileOtherProgramStarts() throws IOException {
    leaveFile();
    try (var lockChannel = FileChannel.open(folder.resolve("server.sock.lock"), StandardOpenOption.CREATE,
        StandardOpenOption.WRITE)) {
      lockChannel.lock();

      assertThrows(IllegalStateException.class, () -> UnixEndpoint.bind(file));
    }
    UnixEndpoint.bind(file).close();
  }

  @Promise("25.15")
  @Test
  void directoryIsRefusedAndKept() throws IOException {
    Files.createDirectory(file);

    assertRefused("the file exists and is no socket; delete it, or give another file");

    assertTrue(Files.exists(file));
  }

  @Promise("25.15")
  @Test
  void fileOfOtherFileSystemIsRefused() throws IOException {
    try (var zip = FileSystems.newFileSystem(folder.resolve("a.zip"), Map.of("create", "true"))) {
      var path = zip.getPath("/server.sock");

      var refusal = assertThrows(IllegalArgumentException.class, () -> UnixEndpoint.bind(path));

      assertEquals("the Unix domain socket /server.sock is not in the file system of this machine; give a path of "
          + "Path.of(..)", refusal.getMessage());
    }
  }

  @Promise("25.15")
  @Test
  void fullBacklogOfLivingServerIsRefused() throws IOException {
    try (var living = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        var first = SocketChannel.open(StandardProtocolFamily.UNIX);
        var second = SocketChannel.open(StandardProtocolFamily.UNIX)) {
      living.bind(UnixDomainSocketAddress.of(file), 1);
      first.connect(UnixDomainSocketAddress.of(file));
      second.connect(UnixDomainSocketAddress.of(file));

      assertThrows(IllegalStateException.class, () -> UnixEndpoint.bind(file));

      assertTrue(Files.exists(file));
    }
  }

  /** The number of a deleted file may be given to the next file. */
  @Promise("25.15")
  @Test
  void secondCloseKeepsFileOfNextServer() throws IOException {
    var endpoint = UnixEndpoint.bind(file);
    endpoint.close();
    var next = UnixEndpoint.bind(file);

    endpoint.close();

    assertTrue(Files.exists(file));
    next.close();
    assertFalse(Files.exists(file));
  }
}
