package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Tests that every line of PROMISES.md names tests that exist. */
class PromisesTest {
  private static final Pattern TEST = Pattern.compile("`(\\w+(?:Test|Contract))\\.(\\w+)`");
  private static final Pattern LINE = Pattern.compile("\\d+\\. .*");

  private static Map<String, String> tests() throws IOException {
    var tests = new HashMap<String, String>();
    for (var folder : List.of("src/test/java/io/fibry", "../fibry-proof/src/test/java/io/fibry/store",
        "../integrations/fibry-jdbc/src/test/java/io/fibry/jdbc",
        "../integrations/fibry-nats/src/test/java/io/fibry", "../fibry-cluster/src/test/java/io/fibry/cluster",
        "../integrations/fibry-spring-boot-starter/src/test/java/io/fibry/spring",
        "../fibry-test/src/test/java/io/fibry/test",
        "../fibry-proof/src/test/java/io/fibry/cluster", "../fibry-proof/src/test/java/io/fibry/durable"))
      try (Stream<Path> files = Files.walk(Path.of(folder))) {
        for (var file : files.filter(path -> path.toString().endsWith(".java")).toList())
          tests.merge(file.getFileName().toString().replace(".java", ""), Files.readString(file), String::concat);
      }
    return tests;
  }

  private static boolean exists(String test, String method) {
    return Pattern
        .compile("  @(Test|ParameterizedTest|SimulatedTest)\\b(?:\n  (?!void ).*){0,9}\n  void " + method + "\\(")
        .matcher(test).find();
  }

  @Test
  void promisesNameExistingTests() throws IOException {
    var tests = tests();
    var lines = Files.readAllLines(Path.of("PROMISES.md")).stream().filter(LINE.asMatchPredicate()).toList();

    assertTrue(lines.size() > 25, lines.size() + " promises");
    assertEquals(List.of(), lines.stream().filter(line -> !TEST.matcher(line).find()).toList());
    assertEquals(List.of(), lines.stream().flatMap(line -> TEST.matcher(line).results())
        .filter(match -> !exists(tests.getOrDefault(match.group(1), ""), match.group(2)))
        .map(match -> match.group()).toList());
  }
}
