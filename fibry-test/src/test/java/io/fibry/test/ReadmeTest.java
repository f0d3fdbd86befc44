package io.fibry.test;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Tests that {@link SnippetsTest} contains the code of README.md. */
class ReadmeTest {
  private static final Pattern BLOCK = Pattern.compile("(?ms)^```java\n(.*?)^```$");

  @Test
  void readmeShowsCodeOfTests() throws Exception {
    var testCode = unindented(Files.readString(Path.of("src/test/java/io/fibry/test/SnippetsTest.java")));
    var blocks = BLOCK.matcher(Files.readString(Path.of("README.md"))).results().map(match -> match.group(1)).toList();

    assertEquals(7, blocks.size());
    assertEquals(List.of(), blocks.stream().filter(block -> !testCode.contains(unindented(block))).toList());
  }

  private static String unindented(String code) {
    return code.replaceAll("(?m)^ +", "");
  }
}
