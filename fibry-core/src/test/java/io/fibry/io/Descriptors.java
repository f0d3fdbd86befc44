package io.fibry.io;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Assumptions;

/** The file descriptors of this process. */
public final class Descriptors {
  private static final Path OPEN = Path.of("/proc/self/fd");

  private Descriptors() {}

  /** How many are open; skips the test where the system does not show them. */
  public static long open() {
    Assumptions.assumeTrue(Files.isDirectory(OPEN), "this system does not show its descriptors");
    return openIfShown();
  }

  /** How many are open; zero where the system does not show them. */
  public static long openIfShown() {
    if (!Files.isDirectory(OPEN)) return 0;
    try (var all = Files.list(OPEN)) {
      return all.count();
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }
}
