package io.fibry.bench.others;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Tests that the programs for other libraries in docs/coming-from.md run. */
class ComingFromTest {
  private static final Path DOC = Path.of("../docs/coming-from.md");

  @Test
  void documentShowsPekkoProgramThatRuns() throws Exception {
    assertIsShown("java pekko", Path.of("src/test/java/io/fibry/bench/others/Visits.java"));
    assertEquals("1", printed(() -> Visits.main(new String[0])));
  }

  @Test
  void documentShowsPekkoPersistenceProgramThatRuns() throws Exception {
    assertIsShown("java pekko-persistence", Path.of("src/test/java/io/fibry/bench/others/Account.java"));
    assertEquals("500", printed(() -> Account.main(new String[0])));
  }

  @Test
  void documentShowsTemporalProgramThatRuns() throws Exception {
    assertIsShown("java temporal", Path.of("src/test/java/io/fibry/bench/others/Shipping.java"));
    assertEquals("book for receipt 7", printed(() -> Shipping.main(new String[0])));
  }

  @Test
  void documentShowsKotlinProgramThatRuns() throws Exception {
    assertIsShown("kotlin", Path.of("src/test/kotlin/io/fibry/bench/others/Visits.kt"));
    assertEquals("1", printed(() -> VisitsKt.main()));
  }

  private static void assertIsShown(String language, Path source) throws Exception {
    var block = Pattern.compile("(?ms)^```" + language + "\n(.*?)^```$").matcher(Files.readString(DOC));

    assertTrue(block.find(), () -> "there is no block of " + language);
    assertTrue(Files.readString(source).endsWith("\n" + block.group(1)),
        () -> source + " differs from the block in " + DOC);
  }

  private static String printed(Runnable program) {
    var originalOutput = System.out;
    var bytes = new ByteArrayOutputStream();
    try (var out = new PrintStream(bytes, true, StandardCharsets.UTF_8)) {
      System.setOut(out);
      program.run();
    } finally {
      System.setOut(originalOutput);
    }
    return bytes.toString(StandardCharsets.UTF_8).strip();
  }
}
