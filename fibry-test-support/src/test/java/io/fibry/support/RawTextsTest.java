package io.fibry.support;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that {@code RawTexts} finds code that puts a user's text unescaped into another text, and
 * reports no text that is escaped or cannot contain a user's text.
 */
class RawTextsTest {
  private static final String HEAD = """
      package io.fibry;
      import java.util.*;
      class Case<K> {
        enum Color { RED }
        record Point(int x, String y) {}
        record Letter(Object text) {}
        String shown(Object message) { return ""; }
        void run(Object message, K key, Exception failure, List<Object> all, StringBuilder to) {
          String text;
      """;

  @TempDir
  private Path folder;

  private Set<String> findingsIn(String code) throws IOException {
    Files.writeString(folder.resolve("Case.java"), HEAD + code + "\n}}");
    return RawTexts.in(folder);
  }

  private void assertFound(String expression, String code) throws IOException {
    assertEquals(Set.of("Case.java: " + expression), findingsIn(code));
  }

  @Test
  void unescapedUserTextsAreFound() throws IOException {
    assertFound("message", "text = \"a\" + message;");
    assertFound("key", "text = \"a\" + 1 + (key);");
    assertFound("failure", "text = \"a\"; text += failure;");
    assertFound("failure", "text = failure.getMessage();");
    assertFound("failure", "text = failure.toString();");
    assertFound("message", "text = String.valueOf(message);");
    assertFound("message", "text = Objects.toString(message);");
    assertFound("message", "text = \"%s\".formatted(message);");
    assertFound("message", "text = \"a\" + (all == null ? 1 : message);");
    assertFound("all", "to.append(all);");
    assertFound("Object::toString", "all.stream().map(Object::toString).toList();");
    assertFound("new Letter(message)", "text = \"a\" + new Letter(message);");
    assertFound("message", "text = shown(1) + message;");
  }

  @Test
  void unformattedDurationIsFound() throws IOException {
    assertFound("java.time.Duration.ZERO", "text = \"a\" + java.time.Duration.ZERO;");
  }

  @Test
  void plainAndEscapedTextsAreNotFound() throws IOException {
    assertEquals(Set.of(), findingsIn("""
        text = "a" + 1 + 'c' + Color.RED + new Point(1, "") + List.of("a", "b") + null + this.shown(message);
        text = "a" + message.getClass() + Thread.currentThread();
        text = shown("a" + message);
        failure.getMessage();
        to.append(1).append("a");
        """));
  }

  @Test
  void sourcesThatDoNotCompileAreRefused() throws IOException {
    assertEquals(Set.of(), findingsIn("")); // skips the test if this Java runtime has no compiler
    assertThrows(IllegalArgumentException.class, () -> findingsIn("text = nothing;"));
  }
}
