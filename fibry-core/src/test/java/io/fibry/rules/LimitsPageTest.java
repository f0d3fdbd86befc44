package io.fibry.rules;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.net.HttpOptions;
import io.fibry.net.HttpRoutes;
import io.fibry.net.TcpOptions;
import io.fibry.net.WebSocketOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Checks that the page of limits has a row for each limit, and that each row names a test. */
class LimitsPageTest {
  private static final Path PAGE = Repository.ROOT.resolve("docs/limits.md");
  private static final Path TESTS = Repository.ROOT.resolve("fibry-core/src/test/java/io/fibry/net");
  private static final Pattern ROW = Pattern.compile("(?m)^\\| (?!limit|---)(.+) \\|$");
  private static final Pattern TEST = Pattern.compile("`(\\w+)\\.(\\w+)`$");
  private static final Map<String, List<Class<?>>> OPTIONS = Map.of("HTTP",
      List.of(HttpOptions.class, HttpRoutes.class), "WebSocket", List.of(WebSocketOptions.class), "TCP",
      List.of(TcpOptions.class));

  private static String section(String title) throws IOException {
    var text = Files.readString(PAGE);
    int start = text.indexOf("## " + title + "\n");
    assertTrue(start > 0, title);
    int end = text.indexOf("\n## ", start);
    return text.substring(start, end < 0 ? text.length() : end);
  }

  @Test
  void eachLimitOptionHasRowInLimitsPage() throws IOException {
    var missing = new ArrayList<String>();
    for (var entry : OPTIONS.entrySet()) {
      var section = section(entry.getKey());
      entry.getValue().stream().flatMap(type -> Stream.of(type.getMethods()))
          .filter(method -> method.getName().startsWith("with") && method.getParameterCount() == 1
              && List.of(int.class, long.class, Duration.class).contains(method.getParameterTypes()[0]))
          .filter(method -> !section.contains("\n| `" + method.getName() + "`"))
          .forEach(method -> missing.add(entry.getKey() + ": " + method.getName()));
    }

    assertEquals(List.of(), missing);
  }

  @Test
  void eachRowOfLimitsPageNamesExistingTest() throws IOException {
    var violations = new ArrayList<String>();
    int rows = 0;
    for (var row = ROW.matcher(Files.readString(PAGE)); row.find(); rows++) {
      var test = TEST.matcher(row.group(1));
      if (!test.find() || !exists(test.group(1), test.group(2))) violations.add(row.group(1));
    }

    assertTrue(rows > 20, "only " + rows + " rows");
    assertEquals(List.of(), violations);
  }

  private static boolean exists(String type, String method) throws IOException {
    try (var files = Files.walk(TESTS)) {
      for (var file : files.filter(path -> path.endsWith(type + ".java")).toList())
        if (Files.readString(file).contains("void " + method + "(")) return true;
    }
    return false;
  }
}
