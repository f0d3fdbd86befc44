package io.fibry.web;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests that the code which the guide shows of these classes is their code. */
class GuideTest {
  private static final Path CHAPTER = Path.of("../../docs/guide/13-behind-another-web-server.md");
  private static final Pattern BLOCK = Pattern.compile("(?ms)^```java (\\w+)\n(.*?)^```$");

  static Stream<List<String>> blocks() throws Exception {
    var blocks = BLOCK.matcher(Files.readString(CHAPTER)).results().map(GuideTest::classAndCode).toList();
    assertTrue(blocks.size() > 4, blocks.toString());
    return blocks.stream();
  }

  private static List<String> classAndCode(MatchResult block) {
    return List.of(block.group(1), block.group(2));
  }

  @ParameterizedTest
  @MethodSource("blocks")
  void codeBlockOfGuideExistsInItsClass(List<String> block) throws Exception {
    var source = Files.readString(Path.of("src/main/java/io/fibry/web/" + block.getFirst() + ".java"));

    var shown = strippedLines(block.getLast());
    assertTrue(Collections.indexOfSubList(strippedLines(source), shown) >= 0, block::getLast);
  }

  private static List<String> strippedLines(String code) {
    return code.lines().map(String::strip).toList();
  }
}
