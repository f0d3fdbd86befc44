package io.fibry.examples.files;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;

/** The folder of a program's argument, or a temporary folder, which {@link #close} deletes. */
public record Folder(Path path, boolean isGiven) implements AutoCloseable {

  public static Folder of(String... arguments) throws IOException {
    return arguments.length > 0 ? new Folder(Path.of(arguments[0]), true)
        : new Folder(Files.createTempDirectory("fibry"), false);
  }

  @Override
  public void close() throws IOException {
    if (isGiven) return;
    try (var files = Files.walk(path)) {
      for (var file : files.sorted(Comparator.reverseOrder()).toList()) Files.delete(file);
    }
  }
}
