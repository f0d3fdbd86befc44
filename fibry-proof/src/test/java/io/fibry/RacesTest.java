package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * Tests that no race needs more than two threads, because jcstress silently skips races of more
 * threads than the machine has processors.
 */
class RacesTest {
  private static final Path SOURCES = Path.of("src/main/java");

  @Test
  void everyRaceHasExactlyTwoActorMethods() throws IOException {
    var actorCounts = new TreeMap<String, Integer>();
    try (var files = Files.walk(SOURCES)) {
      for (var file : files.filter(path -> path.toString().endsWith(".java")).toList()) {
        String code = Files.readString(file);
        if (code.contains("@JCStressTest"))
          actorCounts.put(file.getFileName().toString(), code.split("@Actor\\R").length - 1);
      }
    }

    assertFalse(actorCounts.isEmpty());
    actorCounts.values().removeIf(count -> count == 2);
    assertEquals(new TreeMap<>(), actorCounts);
  }
}
