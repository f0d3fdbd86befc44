package io.fibry.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OutputsTest {
  @TempDir
  private Path out;

  @Test
  void outputOmitsLinesOfThreadThatEarlierProgramLeftRunning() throws Exception {
    var firstProgram = write("First", """
        public class First {
          public static void main(String[] args) {
            Thread.startVirtualThread(() -> {
              for (int i = 0; i < 10_000; i++) {
                System.out.println("first");
                java.util.concurrent.locks.LockSupport.parkNanos(100_000);
              }
            });
          }
        }
        """);
    var secondProgram = write("Second", """
        public class Second {
          public static void main(String[] args) {
            for (int i = 0; i < 100; i++) {
              System.out.println("second");
              java.util.concurrent.locks.LockSupport.parkNanos(100_000);
            }
          }
        }
        """);
    assertEquals("", Programs.ecj(out, firstProgram, secondProgram));

    Programs.run(out, "First", lines -> lines.contains("first"));
    var printedLines = Programs.run(out, "Second", lines -> true);

    assertEquals(Collections.nCopies(100, "second"), printedLines);
  }

  private Path write(String name, String source) throws Exception {
    return Files.writeString(out.resolve(name + ".java"), source);
  }
}
