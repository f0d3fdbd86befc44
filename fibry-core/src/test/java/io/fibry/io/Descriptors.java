package io.fibry.io;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Assumptions;

/**
 * Counts the open sockets, pipes and directory watches of this process. Files are not counted: the
 * JDK opens class path jars and pollers when it first needs them, and keeps them open.
 */
public final class Descriptors {
  private static final Path FOLDER = Path.of("/proc/self/fd");

  private Descriptors() {}

  /**
   * Returns the number of open descriptors. Skips the test if the system does not show descriptors.
   */
  public static long countOpen() {
    Assumptions.assumeTrue(Files.isDirectory(FOLDER), "this system does not show its descriptors");
    return countOpenIfShown();
  }

  private static boolean isCounted(Path descriptor) {
    try {
      var target = Files.readSymbolicLink(descriptor).toString();
      return target.startsWith("socket:") || target.startsWith("pipe:") || target.equals("anon_inode:inotify");
    } catch (IOException descriptorClosed) {
      return false;
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
}
