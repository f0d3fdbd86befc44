package io.fibry.io;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Assumptions;

/**
 * The sockets, pipes and directory watches of this process. Open files do not count: the JDK opens
 * class path jars and pollers whenever it first needs them, and keeps them open.
 */
public final class Descriptors {
  private static final Path OPEN = Path.of("/proc/self/fd");

  private Descriptors() {}

  /** How many are open; skips the test where the system does not show them. */
  public static long open() {
    Assumptions.assumeTrue(Files.isDirectory(OPEN), "this system does not show its descriptors");
    return openIfShown();
  }

  private static boolean isMeant(Path descriptor) {
    try {
      var what = Files.readSymbolicLink(descriptor).toString();
      return what.startsWith("socket:") || what.startsWith("pipe:") || what.equals("anon_inode:inotify");
    } catch (IOException closedMeanwhile) {
      return false;
    }
  }

  /** How many are open; zero where the system does not show them. */
  public static long openIfShown() {
    if (!Files.isDirectory(OPEN)) return 0;
    try (var all = Files.list(OPEN)) {
      return all.filter(Descriptors::isMeant).count();
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }
}
