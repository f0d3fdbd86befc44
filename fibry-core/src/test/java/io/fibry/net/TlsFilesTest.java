package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.support.Certificates;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Promise;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests certificates in files that change while the server runs. */
class TlsFilesTest {
  private final ServerScope net = new ServerScope();
  private Path certificate;
  private Path key;
  private int changes;
  private final AtomicLong now = new AtomicLong(); // the time of the file checks, in nanoseconds

  @BeforeEach
  void setPaths(@TempDir Path folder) {
    certificate = folder.resolve("certificate.pem");
    key = folder.resolve("key.pem");
  }

  @AfterEach
  void close() {
    net.close();
  }

  private void write(String name, String algorithm) throws IOException {
    Certificates.write(Certificates.of(name, algorithm), certificate, key);
    stamp();
  }

  /** Sets new modification times, because a coarse clock may give two writes the same time. */
  private void stamp() throws IOException {
    var time = FileTime.from(Instant.now().plusSeconds(++changes));
    Files.setLastModifiedTime(certificate, time);
    Files.setLastModifiedTime(key, time);
  }

  private TcpAcceptor open(ServerTls tls) {
    return net.open(client -> client.outputStream().write('x'), o -> o.withTls(tls));
  }

  /**
   * Opens an acceptor. After each call of {@link #passInterval}, its next connection checks the
   * files.
   */
  private TcpAcceptor openWithManualClock() {
    return open(ServerTls.of(new PemFiles(certificate, key, Optional.empty(), now::get)));
  }

  private void passInterval() {
    now.addAndGet(Duration.ofSeconds(1).toNanos());
  }

  private static SSLContext contextTrusting(String name, String algorithm) {
    var keys = Certificates.of(name, algorithm);
    return Certificates.context(keys, keys);
  }

  private static String nameInCertificate(TcpAcceptor acceptor, SSLContext context) {
    try (var socket = Certificates.connect(context, acceptor.port())) {
      socket.startHandshake();
      return ((X509Certificate) socket.getSession().getPeerCertificates()[0]).getSubjectX500Principal().getName();
    } catch (SSLException untrusted) {
      return "another";
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"EC", "RSA", "RSASSA-PSS", "Ed25519"})
  void keyOfAnyAlgorithmIsAccepted(String algorithm) throws Exception {
    write("server", algorithm);

    assertEquals("CN=server",
        nameInCertificate(open(ServerTls.ofFiles(certificate, key)), contextTrusting("server", algorithm)));
  }

  @Promise("25.12")
  @Test
  void changedCertificateIsUsedWithoutRestart() throws Exception {
    write("old", "EC");
    var acceptor = openWithManualClock();
    assertEquals("CN=old", nameInCertificate(acceptor, contextTrusting("old", "EC")));

    write("new", "RSA");
    passInterval();
    assertEquals("CN=new", nameInCertificate(acceptor, contextTrusting("new", "RSA")));
    assertEquals("another", nameInCertificate(acceptor, contextTrusting("old", "EC")));
  }

  @Promise("25.12")
  @Test
  void changedFilesAreReadAgainOnSystemClock() throws Exception {
    write("old", "EC");
    var files = new PemFiles(certificate, key, Optional.empty());
    var contextBefore = files.get();

    write("new", "EC");
    Patience.eventually(() -> files.get() != contextBefore);
  }

  @Test
  void oldCertificateStaysInUseWhileFilesAreInvalid() throws Exception {
    write("old", "EC");
    var acceptor = openWithManualClock();
    try (var logged = new Logged()) {
      Files.writeString(key, "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n");
      stamp();
      passInterval();
      assertEquals("CN=old", nameInCertificate(acceptor, contextTrusting("old", "EC")));
      assertTrue(
          logged.text().contains(" has changed and cannot be used, so the old certificate stays in use: "));
    }
    write("new", "EC");
    passInterval();
    assertEquals("CN=new", nameInCertificate(acceptor, contextTrusting("new", "EC")));
  }

  // ---- invalid files

  private String refusal() {
    return refusalOf(() -> ServerTls.ofFiles(certificate, key));
  }

  private static String refusalOf(Executable call) {
    return assertThrows(IllegalArgumentException.class, call).getMessage();
  }

  @Test
  void exceptionNamesMissingCertificateFile() throws Exception {
    assertTrue(assertThrows(UncheckedIOException.class, () -> ServerTls.ofFiles(certificate, key)).getMessage()
        .contains("certificate.pem"));

    Files.writeString(certificate, "");
    Files.writeString(key, "");
    assertEquals(certificate + " and " + key + " have no certificate with its key: there is no certificate; give the "
        + "certificates in PEM form, the server's first, and its key in PKCS #8 form ('openssl pkcs8 -topk8 -nocrypt' "
        + "makes it)", refusal());
  }

  @Test
  void keyOfOtherFormatOrOtherCertificateIsRefused() throws Exception {
    write("server", "EC");
    Files.writeString(key, Files.readString(key).replace("PRIVATE KEY", "EC PRIVATE KEY"));
    assertTrue(refusal().contains("there is no 'BEGIN PRIVATE KEY'"));

    write("server", "EC");
    var otherCertificate = key.resolveSibling("other.pem");
    Certificates.write(Certificates.of("old", "EC"), otherCertificate, key);
    assertTrue(refusal().contains("the key belongs to another certificate"));
  }

  @Test
  void exceptionNamesSwappedFiles() throws Exception {
    write("server", "EC");
    var authorities = key.resolveSibling("authorities.pem");
    Certificates.write(Certificates.of("client", "EC"), authorities, key.resolveSibling("unused.pem"));
    var keyAmongCertificates = key + " has a private key where certificates were expected";
    var noKey = " has certificates where a private key was expected";
    var advice = "; the files may be swapped: give first the file that has only the certificates, then the file of "
        + "their key";
    var adviceOnThree = advice + ", then the file that has only the certificates of authorities";

    assertEquals(keyAmongCertificates + ", and " + certificate + noKey + advice,
        refusalOf(() -> ServerTls.ofFiles(key, certificate)));
    assertEquals(certificate + noKey + advice, refusalOf(() -> ServerTls.ofFiles(certificate, certificate)));
    assertEquals(
        authorities + noKey + ", and " + key + " has a private key where certificates of authorities were expected"
            + adviceOnThree,
        refusalOf(() -> ServerTls.ofFiles(certificate, authorities, key)));
    assertEquals(keyAmongCertificates + adviceOnThree, refusalOf(() -> ServerTls.ofFiles(key, key, authorities)));
  }

  @ParameterizedTest
  @ValueSource(strings = {"ENCRYPTED PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY"})
  void exceptionNamesSwappedFilesForKeyOfAnyForm(String form) throws Exception {
    write("server", "EC");
    Files.writeString(key, Files.readString(key).replace("PRIVATE KEY", form));

    assertTrue(refusalOf(() -> ServerTls.ofFiles(key, certificate))
        .startsWith(key + " has a private key where certificates were expected, and " + certificate));
  }

  @Test
  void certificatesBesideKeyAreAcceptedInFileOfKeyOnly() throws Exception {
    write("server", "EC");
    var both = key.resolveSibling("both.pem");
    Files.writeString(both, Files.readString(certificate) + Files.readString(key));

    assertEquals("CN=server",
        nameInCertificate(open(ServerTls.ofFiles(certificate, both)), contextTrusting("server", "EC")));
    assertTrue(refusalOf(() -> ServerTls.ofFiles(both, both))
        .startsWith(both + " has a private key where certificates were expected; "));
  }

  @Promise("27.29")
  @ParameterizedTest
  @ValueSource(strings = {"-----BEGIN ENCRYPTED PRIVATE KEY-----\n",
    "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n",
    "-----BEGIN EC PRIVATE KEY-----\r\nProc-Type: 4, ENCRYPTED\r\n"})
  void encryptedKeyIsRefusedWithCommandThatDecryptsIt(String beginning) throws Exception {
    write("server", "EC");
    Files.writeString(key, beginning + "AAAA\n-----END");

    assertEquals("the private key in " + key + " is encrypted, and the server cannot ask for its password; decrypt it "
        + "by 'openssl pkcs8 -topk8 -nocrypt -in \"" + key + "\" -out decrypted.pem', give decrypted.pem, and let only "
        + "the user of the server read this file", refusal());
  }

  @Test
  void unencryptedKeyBesideEncryptedKeyIsAccepted() throws Exception {
    write("server", "EC");
    Files.writeString(key, "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n"
        + Files.readString(key));

    assertEquals("CN=server",
        nameInCertificate(open(ServerTls.ofFiles(certificate, key)), contextTrusting("server", "EC")));
  }

  /** The JDK trusts the certificates of every public authority if no authorities are given. */
  @Promise("25.13")
  @Test
  void clientsAreAskedForCertificatesOfNamedAuthoritiesOnly() throws Exception {
    write("server", "EC");
    for (var change : List.<Consumer<SSLParameters>>of(p -> p.setNeedClientAuth(true), p -> p.setWantClientAuth(true)))
      assertEquals("clients are asked for certificates, but no authorities were given, and the default is every "
          + "public authority; give yours by ServerTls.ofFiles(certificates, key, authorities)",
          assertThrows(IllegalArgumentException.class, () -> ServerTls.ofFiles(certificate, key).withParameters(change))
              .getMessage());
    ServerTls.ofFiles(certificate, key).withParameters(p -> p.setProtocols(new String[] {"TLSv1.3"}));

    var authorities = key.resolveSibling("authorities.pem");
    var client = Certificates.of("client", "EC");
    Certificates.write(client, authorities, key.resolveSibling("unused.pem"));
    var acceptor = open(
        ServerTls.ofFiles(certificate, key, authorities).withParameters(p -> p.setNeedClientAuth(true)));

    var server = Certificates.of("server", "EC");
    assertEquals('x', firstByte(acceptor, Certificates.context(client, server)));
    assertThrows(IOException.class, () -> firstByte(acceptor, Certificates.context(server, server)));
    Files.writeString(authorities, "");
    assertEquals("no certificate of an authority in " + authorities + ": there is no certificate; "
        + "give them in PEM form",
        assertThrows(IllegalArgumentException.class, () -> ServerTls.ofFiles(certificate, key, authorities))
            .getMessage());
  }

  private static int firstByte(TcpAcceptor acceptor, SSLContext context) throws IOException {
    try (var socket = Certificates.connect(context, acceptor.port())) {
      return socket.getInputStream().read();
    }
  }

  @Test
  void exceptionNamesNullArgument() {
    assertEquals("certificates",
        assertThrows(NullPointerException.class, () -> ServerTls.ofFiles(null, key)).getMessage());
    assertEquals("context",
        assertThrows(NullPointerException.class, () -> ServerTls.of((SSLContext) null)).getMessage());
  }
}
