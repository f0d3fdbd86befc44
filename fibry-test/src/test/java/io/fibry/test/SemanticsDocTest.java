package io.fibry.test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * Tests that each promise on WebSockets in tests has a test, and that each number in a
 * {@link Promise} exists.
 */
class SemanticsDocTest {
  private static final Pattern LINE = Pattern.compile("(?m)^(\\d+)\\. ");
  private static final Pattern ANNOTATION = Pattern.compile("@Promise\\(([^)]*)\\)");
  private static final Pattern NUMBER = Pattern.compile("\"(30\\.\\d+)\"");

  @Test
  void everyPromiseInSemanticsDocHasTestAndViceVersa() throws Exception {
    var section = Files.readString(Path.of("../docs/semantics.md")).split("\n## 30\\. ")[1].split("\n## ")[0];
    var promised = new TreeSet<String>();
    LINE.matcher(section).results().forEach(line -> promised.add("30." + line.group(1)));
    var tested = new TreeSet<String>();
    try (var files = Files.walk(Path.of("src/test/java"))) {
      for (var file : files.filter(path -> path.toString().endsWith(".java")).toList())
        ANNOTATION.matcher(Files.readString(file)).results().flatMap(match -> NUMBER.matcher(match.group(1)).results())
            .forEach(number -> tested.add(number.group(1)));
    }

    assertTrue(promised.size() >= 4, promised.toString());
    assertEquals(promised, tested);
  }
}
