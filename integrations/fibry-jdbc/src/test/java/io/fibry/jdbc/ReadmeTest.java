package io.fibry.jdbc;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Tests that the README shows the code of the Javadoc, which another test runs. */
class ReadmeTest {
  private static final Pattern BLOCK = Pattern.compile("(?ms)^```java\n(.*?)^```$");
  private static final Pattern REGION = Pattern.compile("(?s)@start region=\"\\w+\"\n(.*?)  // @end");

  private static List<String> findCode(Pattern pattern, String file) throws IOException {
    return pattern.matcher(Files.readString(Path.of(file))).results().map(match -> match.group(1)).toList();
  }

  @Test
  void readmeShowsCodeThatRuns() throws IOException {
    var code = findCode(REGION, "src/test/java/io/fibry/jdbc/JavadocSnippetsTest.java").stream()
        .map(region -> region.lines().map(line -> line.isEmpty() ? line : line.substring(2))
            .collect(Collectors.joining("\n", "", "\n")))
        .toList();

    assertEquals(code, findCode(BLOCK, "README.md"));
  }
}
