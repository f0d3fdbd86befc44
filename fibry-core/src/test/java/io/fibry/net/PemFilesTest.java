package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.support.Certificates;
import io.fibry.support.Logged;
import io.fibry.testing.Promise;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.security.GeneralSecurityException;
import java.security.KeyPairGenerator;
import java.security.spec.MGF1ParameterSpec;
import java.security.spec.PSSParameterSpec;
import java.security.spec.RSAKeyGenParameterSpec;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests which changed files are used, and what is logged, with a clock that the tests advance. */
class PemFilesTest {
  private static final Pattern LOG_LINE = Pattern.compile("(?m)(WARN|INFO) io.fibry.net.PemFiles - (.*)$");
  private static final String INVALID_FILES =
      "WARN certificate.pem or key.pem has changed and cannot be used, so the old certificate stays in use: ";
  private static final String MALFORMED = "java.lang.IllegalArgumentException: certificate.pem and key.pem have no "
      + "certificate with its key: ";

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
      for (int i = 0; i < 10; i++) check();
      return LOG_LINE.matcher(logged.text().replace(certificate.getParent() + File.separator, "")).results()
          .map(match -> match.group(1) + " " + match.group(2)).toList();
    }
  }

  private SSLContext check() {
    now += Duration.ofSeconds(1).toNanos();
    return files.get();
  }

  /** Asserts that ten checks log one warning, and use the old certificate. */
  private void assertRefused(String reason) {
    var contextBefore = files.get();
    var lines = logOfTenChecks();
    assertEquals(1, lines.size(), lines::toString);
    assertTrue(lines.getFirst().startsWith(INVALID_FILES + reason), lines::toString);
    assertSame(contextBefore, files.get());
  }

  @Test
  void eachChangeToInvalidOrValidFilesIsLoggedOnce() throws Exception {
    var contextBefore = files.get();
    assertEquals(List.of(), logOfTenChecks());

    Files.writeString(key, "torn");
    stamp(1);
    assertRefused(MALFORMED + "there is no 'BEGIN PRIVATE KEY' with its end; give the certificates in PEM form");

    stamp(2);
    assertRefused(MALFORMED);

    Files.delete(certificate);
    assertRefused("java.nio.file.NoSuchFileException: certificate.pem");
    assertSame(contextBefore, files.get());

    Certificates.write(Certificates.of("server", "EC"), certificate, key);
    stamp(3);
    assertEquals(List.of("INFO certificate.pem was read again"), logOfTenChecks());
    assertNotSame(contextBefore, files.get());
  }

  @Test
  void restoredFilesAreNotReadAgain() throws Exception {
    var contextBefore = files.get();
    var movedFile = certificate.resolveSibling("moved.pem");
    Files.move(certificate, movedFile);
    assertRefused("java.nio.file.NoSuchFileException: certificate.pem");

    Files.move(movedFile, certificate);
    assertEquals(List.of("INFO certificate.pem was restored to the version whose certificate is still in use"),
        logOfTenChecks());

    assertSame(contextBefore, files.get());
    assertEquals(List.of(), logOfTenChecks());
  }

  @Test
  void missingKeyFileIsRefused() throws Exception {
    Files.delete(key);

    assertRefused("java.nio.file.NoSuchFileException: key.pem");
  }

  @Promise("27.29")
  @Test
  void keyOfOtherCertificateIsRefused() throws Exception {
    var unused = certificate.resolveSibling("unused.pem");
    Certificates.write(Certificates.of("new", "EC"), unused, key);
    stamp(1);
    assertRefused(MALFORMED + "the key belongs to another certificate");

    Certificates.write(Certificates.of("new", "RSA"), unused, key);
    stamp(2);
    assertRefused(MALFORMED + "the key is malformed, or has another algorithm than the certificate (EC): ");

    Files.writeString(key, "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n");
    stamp(3);
    assertRefused("java.lang.IllegalArgumentException: the private key in key.pem is encrypted");
  }

  /** OpenSSL can restrict a key for RSASSA-PSS to one digest, with one length of the salt. */
  @Promise("27.29")
  @Test
  void pairOfRestrictedPssKeysIsAccepted() throws Exception {
    var generator = KeyPairGenerator.getInstance("RSASSA-PSS");
    var restriction =
        new PSSParameterSpec("SHA-384", "MGF1", MGF1ParameterSpec.SHA384, 48, PSSParameterSpec.TRAILER_FIELD_BC);
    generator.initialize(new RSAKeyGenParameterSpec(2048, RSAKeyGenParameterSpec.F4, restriction));
    var pair = generator.generateKeyPair();
    var other = generator.generateKeyPair();

    PemFiles.checkPair(pair.getPrivate(), pair.getPublic());
    var refusal = assertThrows(GeneralSecurityException.class,
        () -> PemFiles.checkPair(pair.getPrivate(), other.getPublic()));
    assertEquals("the key belongs to another certificate", refusal.getMessage());
  }

  /** Writes a new pair of files piece by piece, and the certificate first. */
  @Promise("27.29")
  @Test
  void halfWrittenFilesAreNotUsed() throws Exception {
    Certificates.write(Certificates.of("new", "EC"), certificate, key);
    var newCertificate = Files.readString(certificate);
    var newKey = Files.readString(key);
    Certificates.write(Certificates.of("server", "EC"), certificate, key);
    stamp(0);
    var contextBefore = check();

    try (var logged = new Logged()) {
      for (int length = 0; length <= newCertificate.length(); length += 29) {
        Files.writeString(certificate, newCertificate.substring(0, length));
        stamp(1);
        assertSame(contextBefore, check());
      }
      Files.writeString(certificate, newCertificate);
      for (int length = 0; length < newKey.lastIndexOf('-'); length += 29) {
        Files.writeString(key, newKey.substring(0, length));
        stamp(1);
        assertSame(contextBefore, check());
      }
      assertTrue(logged.lines("stays in use").size() > 10, logged::text);
    }
    Files.writeString(key, newKey);
    stamp(1);
    assertNotSame(contextBefore, check());
  }

  /** A file system with coarse times may give the second write the time of the first. */
  @Test
  void changedFileWithUnchangedFileTimeIsReadAgain() throws Exception {
    var issuer = certificate.resolveSibling("issuer.pem");
    Certificates.write(Certificates.of("server", "RSA"), issuer, certificate.resolveSibling("unused.pem"));
    Files.writeString(certificate, Files.readString(certificate) + Files.readString(issuer));
    stamp(0);

    assertEquals(List.of("INFO certificate.pem was read again"), logOfTenChecks());
  }
}
