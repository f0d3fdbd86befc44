package io.fibry.rules;

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

/** Finds the files of the repository. Tests of a module run in the folder of the module. */
final class Repository {
  static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
  private static final Set<String> SKIPPED_FOLDERS = Set.of("target", ".git", "node_modules");

  private static final Pattern LIBRARY =
      Pattern.compile("(?:integrations/)?fibry-(?!bench)[a-z0-9-]+/src/(main|boot|agent)/.*/[A-Za-z0-9]+\\.(java|kt)");
  private static final Pattern COMMENT_OR_STRING =
      Pattern.compile("(?s)/\\*.*?\\*/|//[^\\n]*|\"\"\".*?\"\"\"|\"(?:\\\\.|[^\"\\\\\\n])*\"");

  private Repository() {}

  /** Returns the {@linkplain #code code} of all sources of libraries, by paths below the root. */
  static Map<String, String> libraryCode() throws IOException {
    var code = new TreeMap<String, String>();
    for (var file : files(".java", ".kt")) {
      String path = ROOT.relativize(file).toString().replace('\\', '/');
      if (LIBRARY.matcher(path).matches()) code.put(path, code(Files.readString(file)));
    }
    return code;
  }

  /** Returns a source without its comments and strings. */
  static String code(String source) {
    return COMMENT_OR_STRING.matcher(source).replaceAll(" ");
  }

  /**
   * Returns the files with one of these endings. Skips folders of build results, because other
   * modules are built at the same time, and their files appear and disappear.
   */
  static List<Path> files(String... endings) {
    var matches = new ArrayList<Path>();
    try {
      Files.walkFileTree(ROOT, new SimpleFileVisitor<>() {
        @Override
        public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
          return !folder.equals(ROOT) && SKIPPED_FOLDERS.contains(folder.getFileName().toString())
              ? FileVisitResult.SKIP_SUBTREE
              : FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
          if (Stream.of(endings).anyMatch(file.toString().replace('\\', '/')::endsWith)) matches.add(file);
          return FileVisitResult.CONTINUE;
        }
      });
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
    return matches;
  }
}
