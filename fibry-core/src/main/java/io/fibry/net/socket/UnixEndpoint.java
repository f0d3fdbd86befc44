package io.fibry.net.socket;

import io.fibry.text.Lines;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Objects;

/**
 * A file of this machine: a Unix domain socket. The file exists as long as the endpoint is open. A
 * file that a killed process has left is replaced.
 */
final class UnixEndpoint implements ServerEndpoint {
  private static final int BACKLOG = 1024;

  private final Path file;
  private final ServerSocketChannel channel;
  private final Object fileKey; // the file's number in its file system; null if the system has none

  private UnixEndpoint(Path file, ServerSocketChannel channel) throws IOException {
    this.file = file;
    this.channel = channel;
    this.fileKey = fileKey(file);
  }

  static UnixEndpoint bind(Path file) {
    try {
      deleteIfLeft(file);
      var channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
      try {
        channel.bind(UnixDomainSocketAddress.of(file), BACKLOG);
        letAllConnect(file);
        return new UnixEndpoint(file, channel);
      } catch (Throwable failure) {
        channel.close();
        throw failure;
      }
    } catch (IOException | UnsupportedOperationException failure) {
      throw new UncheckedIOException("cannot listen on the Unix domain socket " + file + ": " + Lines.message(failure)
          + "; give a path of at most about 100 bytes, in a directory that exists and in which this process may "
          + "create files", failure instanceof IOException cause ? cause : new IOException(failure));
    }
  }

  /** Deletes the socket of a process that has ended without closing it. */
  private static void deleteIfLeft(Path file) throws IOException {
    if (!Files.exists(file, LinkOption.NOFOLLOW_LINKS)) return;
    if (!Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS).isOther())
      throw new IOException("the file exists and is no socket");
    try (var client = SocketChannel.open(StandardProtocolFamily.UNIX)) {
      if (client.connect(UnixDomainSocketAddress.of(file)))
        throw new IllegalStateException("another program listens on the Unix domain socket " + file
            + "; end that program, or give another file");
    } catch (IOException refused) { // no process listens
      Files.deleteIfExists(file);
    }
  }

  /** Permits all users to connect who may enter the directory, as a port of loopback does. */
  private static void letAllConnect(Path file) throws IOException {
    var rights = Files.getFileAttributeView(file, PosixFileAttributeView.class);
    if (rights != null) rights.setPermissions(PosixFilePermissions.fromString("rw-rw-rw-"));
  }

  private static Object fileKey(Path file) throws IOException {
    return Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS).fileKey();
  }

  @Override
  public Transport accept() throws IOException {
    return new UnixTransport(channel.accept());
  }

  @Override
  public String addressText() {
    return Lines.text(file);
  }

  @Override
  public int port() {
    return 0;
  }

  @Override
  public boolean isClosed() {
    return !channel.isOpen();
  }

  @Override
  public void close() throws IOException {
    channel.close();
    // not a file that another process has created since
    if (Files.exists(file, LinkOption.NOFOLLOW_LINKS) && Objects.equals(fileKey, fileKey(file)))
      Files.deleteIfExists(file);
  }
}
