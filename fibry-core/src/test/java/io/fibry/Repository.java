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
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** All committed files; tests of a module run in its folder. */
final class Repository {
  static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
  private static final Set<String> NOT_OURS = Set.of("target", ".git", "node_modules");

  private static final Pattern LIBRARY =
      Pattern.compile("(?:integrations/)?fibry-(?!bench)[a-z0-9-]+/src/(main|boot|agent)/.*/[A-Za-z0-9]+\\.(java|kt)");
  private static final Pattern NO_CODE =
      Pattern.compile("(?s)/\\*.*?\\*/|//[^\\n]*|\"\"\".*?\"\"\"|\"(?:\\\\.|[^\"\\\\\\n])*\"");

  private Repository() {}

  /** The code of each source of a library, by its path below the root; see {@link #code}. */
  static Map<String, String> libraryCode() throws IOException {
    var code = new TreeMap<String, String>();
    for (var file : files(".java", ".kt")) {
      String path = ROOT.relativize(file).toString().replace('\\', '/');
      if (LIBRARY.matcher(path).matches()) code.put(path, code(Files.readString(file)));
    }
    return code;
  }

  /** A source without its comments and strings. */
  static String code(String source) {
    return NO_CODE.matcher(source).replaceAll(" ");
  }

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
