package io.fibry;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** All committed files; tests of a module run in its folder. */
final class Repository {
  static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
  private static final Set<String> NOT_OURS = Set.of("target", ".git", "node_modules");

  private Repository() {}

  /**
   * Files with one of these endings. It does not enter folders of what is built: modules are tested
   * at the same time, so files there come and go.
   */
  static List<Path> files(String... endings) {
    var found = new ArrayList<Path>();
    try {
      Files.walkFileTree(ROOT, new SimpleFileVisitor<>() {
        @Override
        public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
          return !folder.equals(ROOT) && NOT_OURS.contains(folder.getFileName().toString())
              ? FileVisitResult.SKIP_SUBTREE
              : FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
          if (Stream.of(endings).anyMatch(file.toString().replace('\\', '/')::endsWith)) found.add(file);
          return FileVisitResult.CONTINUE;
        }
      });
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
    return found;
  }
}
