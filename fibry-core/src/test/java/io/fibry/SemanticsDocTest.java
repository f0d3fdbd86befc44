package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Every line of docs/semantics.md names tests, and they exist. */
class SemanticsDocTest {
  private static final Pattern TEST = Pattern.compile("`(\\w+Test)\\.(\\w+)`");
  private static final Pattern LINE = Pattern.compile("(?m)^\\d+\\. (?:[^\\n]++|\\n(?!\\d+\\. |#|\\n))*+");

  private final Path root = Path.of(System.getProperty("basedir", "")).toAbsolutePath();

  private String text() throws IOException {
    return Files.readString(root.resolveSibling("docs").resolve("semantics.md"));
  }

  @Test
  void everyLineNamesATest() throws IOException {
    var lines = LINE.matcher(text()).results().map(m -> m.group()).toList();

    assertTrue(lines.size() > 50, () -> "only " + lines.size() + " lines");
    assertEquals(List.of(), lines.stream().filter(line -> !TEST.matcher(line).find()).toList());
  }

  @Test
  void theTestsThatItNamesExist() throws IOException {
    var missing = new TreeSet<String>();
    for (var named : TEST.matcher(text()).results().toList())
      if (!isTest(named.group(1), named.group(2))) missing.add(named.group(1) + "." + named.group(2));

    assertEquals(new TreeSet<>(), missing);
  }

  private boolean isTest(String type, String method) throws IOException {
    var declared =
        Pattern.compile("@(Test|ParameterizedTest|TestFactory|RepeatedTest)\\b[^;{}]*?(?:\\{[^{}]*\\}[^;{}]*?)*\\bvoid "
            + method + "\\(");
    for (var source : sources(type)) if (declared.matcher(Files.readString(source)).find()) return true;
    return false;
  }

  private List<Path> sources(String type) throws IOException {
    var found = new ArrayList<Path>();
    try (Stream<Path> all = Files.walk(root.resolve("src/test/java"))) {
      all.filter(path -> path.endsWith(type + ".java")).forEach(found::add);
    }
    return found;
  }
}
