package io.fibry.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/**
 * Counts the open sockets, pipes and directory watches of this process, and finds its listening
 * sockets. Files are not counted: the JDK opens class path jars and pollers when it first needs
 * them, and keeps them open.
 */
public final class Descriptors {
  private static final Path FOLDER = Path.of("/proc/self/fd");
  private static final Path TABLES = Path.of("/proc/self/net"); // the folder with the tables of sockets
  private static final String TCP_LISTEN = "0A"; // a state in these tables
  private static final String UDP_UNCONNECTED = "07";

  private Descriptors() {}

  /**
   * Returns the number of open descriptors. Skips the test if the system does not show descriptors.
   */
  public static long countOpen() {
    Assumptions.assumeTrue(Files.isDirectory(FOLDER), "this system does not show its descriptors");
    return countOpenIfShown();
  }

  private static boolean isCounted(Path descriptor) {
    var target = target(descriptor);
    return target.startsWith("socket:") || target.startsWith("pipe:") || target.equals("anon_inode:inotify");
  }

  private static String target(Path descriptor) {
    try {
      return Files.readSymbolicLink(descriptor).toString();
    } catch (IOException descriptorClosed) {
      return "";
    }
  }

  /** Returns the number of open descriptors, or zero if the system does not show descriptors. */
  public static long countOpenIfShown() {
    if (!Files.isDirectory(FOLDER)) return 0;
    try (var descriptors = Files.list(FOLDER)) {
      return descriptors.filter(Descriptors::isCounted).count();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /**
   * Returns whether a socket of this process listens on the port, by TCP or UDP. Sockets of other
   * processes do not count: such a process may get a port as soon as this process frees it. Returns
   * false if the system does not show sockets.
   */
  public static boolean isListeningIfShown(int port) {
    var inodes = Stream.of("tcp", "tcp6", "udp", "udp6").map(TABLES::resolve).filter(Files::isReadable)
        .flatMap(table -> listeningInodes(table, port)).toList();
    return !inodes.isEmpty() && hasSocket(inodes);
  }

  /** Returns the inodes of the sockets in the table that listen on the port. */
  private static Stream<String> listeningInodes(Path table, int port) {
    try {
      return Files.readAllLines(table).stream().skip(1).map(line -> line.strip().split("\\s+"))
          .filter(columns -> columns[1].endsWith(":%04X".formatted(port)))
          .filter(columns -> List.of(TCP_LISTEN, UDP_UNCONNECTED).contains(columns[3])).map(columns -> columns[9]);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private static boolean hasSocket(List<String> inodes) {
    try (var descriptors = Files.list(FOLDER)) {
      return descriptors.map(Descriptors::target).anyMatch(target -> inodes.stream()
          .anyMatch(inode -> target.equals("socket:[" + inode + "]")));
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}
