package io.fibry.net.socket;

import io.fibry.text.Lines;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A file of this machine: a Unix domain socket. The file exists as long as the endpoint is open. A
 * socket that a killed process has left is replaced.
 *
 * <p>If several servers start together, one of them gets the file. A lock is held while a server
 * checks, deletes and creates the file; otherwise a server could delete the file that another
 * server has just created. The lock is a second file, which stays: if it were deleted, two
 * processes could lock two files of the same name.
 */
final class UnixEndpoint implements ServerEndpoint {
  private static final int BACKLOG = 1024;
  private static final int TYPE_BITS = 0170000; // of the mode of a file
  private static final int SOCKET_TYPE = 0140000;
  private static final Object OPENING = new Object(); // a lock on a file does not exclude threads of this process

  private final Path file;
  private final ServerSocketChannel channel;
  private final UnixPoller selectorThread;
  private final Object fileKey; // the file's number in its file system; null if the system has none
  private final AtomicBoolean isFileDeleted = new AtomicBoolean();

  private UnixEndpoint(Path file, ServerSocketChannel channel, UnixPoller selectorThread) throws IOException {
    this.file = file;
    this.channel = channel;
    this.selectorThread = selectorThread;
    this.fileKey = fileKey(file);
  }

  static UnixEndpoint bind(Path file) {
    if (file.getFileSystem() != FileSystems.getDefault()) throw new IllegalArgumentException(
        "the Unix domain socket " + file + " is not in the file system of this machine; give a path of Path.of(..)");
    boolean wasInterrupted = Thread.interrupted(); // an interrupt would close the channel of the lock
    try {
      synchronized (OPENING) {
        return bindLocked(file);
      }
    } catch (IOException | UnsupportedOperationException failure) {
      throw new UncheckedIOException(
          "cannot listen on the Unix domain socket " + file + ": " + Lines.message(failure),
          failure instanceof IOException cause ? cause : new IOException(failure));
    } finally {
      if (wasInterrupted) Thread.currentThread().interrupt();
    }
  }

  @SuppressWarnings("try") // the variable of the lock is not used
  private static UnixEndpoint bindLocked(Path file) throws IOException {
    var lockFile = file.resolveSibling(file.getFileName() + ".lock");
    try (var lockChannel = openLock(lockFile); var lock = lockChannel.tryLock()) {
      if (lock == null) throw inUse(file);
      deleteIfLeft(file);
      return bindFree(file);
    } catch (OverlappingFileLockException lockedByOtherLoader) {
      throw inUse(file);
    }
  }

  private static FileChannel openLock(Path lockFile) throws IOException {
    try {
      return FileChannel.open(lockFile, StandardOpenOption.READ, StandardOpenOption.WRITE, StandardOpenOption.CREATE,
          LinkOption.NOFOLLOW_LINKS);
    } catch (IOException failure) {
      throw new IOException("the file " + lockFile + ", which is locked during the start, cannot be opened ("
          + Lines.message(failure) + "); give a directory that exists and in which this process may create files",
          failure);
    }
  }

  private static IllegalStateException inUse(Path file) {
    return new IllegalStateException(
        "another program listens on the Unix domain socket " + file + "; end that program, or give another file");
  }

  /** Deletes the socket of a process that has ended without closing it. */
  private static void deleteIfLeft(Path file) throws IOException {
    if (!existsAsSocket(file)) return;
    try (var client = SocketChannel.open(StandardProtocolFamily.UNIX)) {
      client.configureBlocking(false); // the backlog of a living server may be full
      client.connect(UnixDomainSocketAddress.of(file));
    } catch (ConnectException refused) { // no process listens
      Files.deleteIfExists(file);
      return;
    } catch (SocketException failure) {
      if (!Lines.message(failure).contains("temporarily unavailable")) // EAGAIN: the backlog is full
        throw new IOException("the file exists, and the check whether a program listens there failed ("
            + Lines.message(failure) + "); delete the file if no program uses it", failure);
    }
    throw inUse(file);
  }

  private static boolean existsAsSocket(Path file) throws IOException {
    try {
      int mode = (int) Files.getAttribute(file, "unix:mode", LinkOption.NOFOLLOW_LINKS);
      if ((mode & TYPE_BITS) == SOCKET_TYPE) return true;
      throw new IOException("the file exists and is no socket; delete it, or give another file");
    } catch (NoSuchFileException missing) {
      return false;
    } catch (UnsupportedOperationException noMode) { // on Windows
      if (!Files.exists(file, LinkOption.NOFOLLOW_LINKS)) return false;
      throw new IOException("the file exists, and this system does not tell whether it is a socket; delete it", noMode);
    }
  }

  private static UnixEndpoint bindFree(Path file) throws IOException {
    var channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    UnixPoller selectorThread = null;
    boolean isBound = false;
    try {
      bindChannel(channel, file);
      isBound = true;
      letAllConnect(file);
      selectorThread = UnixPoller.start(Lines.text(file));
      return new UnixEndpoint(file, channel, selectorThread);
    } catch (Throwable failure) {
      if (selectorThread != null) selectorThread.endAfterConnections();
      try (channel) {
        if (isBound) Files.deleteIfExists(file);
      } catch (IOException notDeleted) {
        failure.addSuppressed(notDeleted);
      }
      throw failure;
    }
  }

  private static void bindChannel(ServerSocketChannel channel, Path file) throws IOException {
    try {
      channel.bind(UnixDomainSocketAddress.of(file), BACKLOG);
    } catch (SocketException failure) {
      throw new IOException(Lines.message(failure) + "; give a path of at most about 100 bytes, in a directory in "
          + "which this process may create files", failure);
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
    var client = channel.accept();
    try {
      return new UnixTransport(client, selectorThread);
    } catch (Throwable failure) {
      client.close();
      throw failure;
    }
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

  /** Returns whether the thread of the poller has no more work. Used by tests. */
  boolean hasPollerEnded() {
    return selectorThread.hasEnded();
  }

  /**
   * Deletes the file while the channel is open, because the system may give the number of the file
   * to another file afterwards. A file that another process has created since is not deleted.
   */
  @Override
  public void close() throws IOException {
    if (!isFileDeleted.compareAndSet(false, true)) return;
    try (channel) {
      if (Objects.equals(fileKey, fileKey(file))) Files.deleteIfExists(file);
    } catch (NoSuchFileException deletedAlready) {} finally {
      selectorThread.endAfterConnections();
    }
  }
}
