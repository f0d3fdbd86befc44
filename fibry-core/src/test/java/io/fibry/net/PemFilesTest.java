package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.fibry.support.Certificates;
import io.fibry.support.Logged;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the log lines about changed files, with a clock that the tests advance. */
class PemFilesTest {
  private static final Pattern LOG_LINE = Pattern.compile("(?m)(WARN|INFO) io.fibry.net.PemFiles - \\S+ (.*)$");
  private static final String INVALID_FILES = "has changed and cannot be used, so the old certificate stays in use";

  private Path certificate;
  private Path key;
  private PemFiles files;
  private long now;

  @BeforeEach
  void write(@TempDir Path folder) throws IOException {
    certificate = folder.resolve("certificate.pem");
    key = folder.resolve("key.pem");
    Certificates.write(Certificates.of("server", "EC"), certificate, key);
    stamp(0);
    files = new PemFiles(certificate, key, Optional.empty(), () -> now);
  }

  private void stamp(int second) throws IOException {
    Files.setLastModifiedTime(certificate, FileTime.fromMillis(1_000L * second));
    Files.setLastModifiedTime(key, FileTime.fromMillis(1_000L * second));
  }

  /** Checks the files ten times, once per second. Returns the log lines of these checks. */
  private List<String> logOfTenChecks() {
    try (var logged = new Logged()) {
      for (int i = 0; i < 10; i++) {
        now += Duration.ofSeconds(1).toNanos();
        files.get();
      }
      return LOG_LINE.matcher(logged.text()).results().map(match -> match.group(1) + " " + match.group(2)).toList();
    }
  }

  @Test
  void eachChangeToInvalidOrValidFilesIsLoggedOnce() throws Exception {
    var contextBefore = files.get();
    assertEquals(List.of(), logOfTenChecks());

    Files.writeString(key, "torn");
    stamp(1);
    assertEquals(List.of("WARN " + INVALID_FILES), logOfTenChecks());

    stamp(2);
    assertEquals(List.of("WARN " + INVALID_FILES), logOfTenChecks());

    Files.delete(certificate);
    assertEquals(List.of("WARN " + INVALID_FILES), logOfTenChecks());
    assertSame(contextBefore, files.get());

    Certificates.write(Certificates.of("server", "EC"), certificate, key);
    stamp(3);
    assertEquals(List.of("INFO was read again"), logOfTenChecks());
    assertNotSame(contextBefore, files.get());
  }

  @Test
  void restoredFilesAreNotReadAgain() throws Exception {
    var contextBefore = files.get();
    var movedFile = certificate.resolveSibling("moved.pem");
    Files.move(certificate, movedFile);
    assertEquals(List.of("WARN " + INVALID_FILES), logOfTenChecks());

    Files.move(movedFile, certificate);
    assertEquals(List.of("INFO was restored to the version whose certificate is still in use"), logOfTenChecks());

    assertSame(contextBefore, files.get());
    assertEquals(List.of(), logOfTenChecks());
  }
}
