package io.fibry.bench.durable;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;

/** A new folder below {@code target}, which is on a disk. {@link #close} deletes it. */
record TemporaryFolder(Path path) implements AutoCloseable {

  static TemporaryFolder create() throws IOException {
    return new TemporaryFolder(Files.createTempDirectory(Files.createDirectories(Path.of("target")), "durable"));
  }

  @Override
  public void close() throws IOException {
    try (var files = Files.walk(path)) {
      for (var file : files.sorted(Comparator.reverseOrder()).toList()) Files.delete(file);
    }
  }
}
