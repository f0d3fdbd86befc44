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

/** The log lines about files that change, by a clock that tests move. */
class PemFilesTest {
  private static final Pattern SAID = Pattern.compile("(?m)(WARN|INFO) io.fibry.net.PemFiles - \\S+ (.*)$");
  private static final String BAD = "has changed and cannot be used, so the certificate stays what it was";

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

  /** Ten times a second after the last one. */
  private List<String> saidByLooks() {
    try (var logged = new Logged()) {
      for (int i = 0; i < 10; i++) {
        now += Duration.ofSeconds(1).toNanos();
        files.get();
      }
      return SAID.matcher(logged.text()).results().map(found -> found.group(1) + " " + found.group(2)).toList();
    }
  }

  @Test
  void eachChangeToBadFilesIsLoggedOnceAndThatTheyAreGoodAgain() throws Exception {
    var before = files.get();
    assertEquals(List.of(), saidByLooks());

    Files.writeString(key, "torn");
    stamp(1);
    assertEquals(List.of("WARN " + BAD), saidByLooks());

    stamp(2);
    assertEquals(List.of("WARN " + BAD), saidByLooks());

    Files.delete(certificate);
    assertEquals(List.of("WARN " + BAD), saidByLooks());
    assertSame(before, files.get());

    Certificates.write(Certificates.of("server", "EC"), certificate, key);
    stamp(3);
    assertEquals(List.of("INFO was read anew"), saidByLooks());
    assertNotSame(before, files.get());
  }

  @Test
  void filesThatComeBackAreNotReadAnew() throws Exception {
    var before = files.get();
    var aside = certificate.resolveSibling("aside.pem");
    Files.move(certificate, aside);
    assertEquals(List.of("WARN " + BAD), saidByLooks());

    Files.move(aside, certificate);
    assertEquals(List.of("INFO is again what it was"), saidByLooks());

    assertSame(before, files.get());
    assertEquals(List.of(), saidByLooks());
  }
}
