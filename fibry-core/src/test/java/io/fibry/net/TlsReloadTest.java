package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.support.Certificates;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Promise;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests connections that are open, or begin, while the certificate in the files changes. */
class TlsReloadTest {
  private static final int CLIENTS = 8;

  private final ServerScope net = new ServerScope();
  private final KeyStore oldKeys = Certificates.of("old", "EC");
  private final KeyStore newKeys = Certificates.of("new", "EC");
  private final SSLContext clientContext = Certificates.contextTrusting(oldKeys, newKeys);
  private final AtomicLong now = new AtomicLong(); // the time of the file checks, in nanoseconds
  private final AtomicInteger connections = new AtomicInteger();
  private Path certificate;
  private Path key;
  private PemFiles files;
  private TcpAcceptor acceptor;
  private int changes;

  @BeforeEach
  void open(@TempDir Path folder) throws IOException {
    certificate = folder.resolve("certificate.pem");
    key = folder.resolve("key.pem");
    Certificates.write(oldKeys, certificate, key);
    passInterval();
    files = new PemFiles(certificate, key, Optional.empty(), now::get);
    acceptor = net.open(client -> {
      for (var line : client.lines()) client.outputStream().write((line + "\n").getBytes(StandardCharsets.US_ASCII));
    }, o -> o.withTls(ServerTls.of(files)));
  }

  @AfterEach
  void close() {
    net.close();
  }

  /** Sets new modification times, and then lets the next connection check the files. */
  private void passInterval() throws IOException {
    var time = FileTime.fromMillis(1_000L * ++changes);
    for (var file : List.of(certificate, key)) if (Files.exists(file)) Files.setLastModifiedTime(file, time);
    now.addAndGet(Duration.ofSeconds(1).toNanos());
  }

  private static void requireEcho(SSLSocket socket, String line) throws IOException {
    socket.getOutputStream().write((line + "\n").getBytes(StandardCharsets.US_ASCII));
    assertEquals(line,
        new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII)).readLine());
  }

  private static String serverName(SSLSocket socket) throws IOException {
    return ((X509Certificate) socket.getSession().getPeerCertificates()[0]).getSubjectX500Principal().getName();
  }

  /** Talks to the server on a new connection. Returns the name in the server's certificate. */
  private String talk() throws IOException {
    try (var socket = Certificates.connect(clientContext, acceptor.port())) {
      requireEcho(socket, "hello");
      connections.incrementAndGet();
      return serverName(socket);
    }
  }

  @Promise("27.29")
  @Test
  void openConnectionKeepsItsCertificate() throws Exception {
    try (var openSocket = Certificates.connect(clientContext, acceptor.port())) {
      requireEcho(openSocket, "before");
      Certificates.write(newKeys, certificate, key);
      assertEquals("CN=old", talk()); // no second has passed
      passInterval();
      assertEquals("CN=new", talk());

      requireEcho(openSocket, "after");
      assertEquals("CN=old", serverName(openSocket));
    }
  }

  /** Clients connect without pause, while the files are missing, half-written or no pair. */
  @Promise("27.29")
  @Test
  void handshakesSucceedWhileFilesChange() throws Exception {
    var newCertificate = certificate.resolveSibling("new-certificate.pem");
    var newKey = certificate.resolveSibling("new-key.pem");
    Certificates.write(newKeys, newCertificate, newKey);
    var isNewInUse = new AtomicBoolean();
    try (var logged = new Logged()) {
      var clients =
          IntStream.range(0, CLIENTS).mapToObj(i -> Patience.callOnFiber(() -> talkUntil(isNewInUse))).toList();

      Files.delete(certificate);
      awaitCheck();
      Files.writeString(certificate, Files.readString(newCertificate).substring(0, 300));
      awaitCheck();
      Files.copy(newCertificate, certificate, StandardCopyOption.REPLACE_EXISTING);
      awaitCheck();
      Files.writeString(key, Files.readString(newKey).substring(0, 100));
      awaitCheck();
      Files.copy(newKey, key, StandardCopyOption.REPLACE_EXISTING);
      awaitCheck();
      isNewInUse.set(true);

      for (var client : clients) {
        var names = Patience.value(client);
        int oldCount = names.indexOf("CN=new");
        assertEquals(Collections.nCopies(oldCount, "CN=old"), names.subList(0, oldCount));
        assertEquals(Collections.nCopies(names.size() - oldCount, "CN=new"), names.subList(oldCount, names.size()));
      }
      assertEquals(4, logged.lines("stays in use").size(), logged::text);
    }
  }

  /** Talks to the server until the new certificate is in use, and then once more. */
  private List<String> talkUntil(AtomicBoolean isNewInUse) throws IOException {
    var names = new ArrayList<String>();
    boolean isLast;
    do {
      isLast = isNewInUse.get();
      names.add(talk());
    } while (!isLast);
    return names;
  }

  /**
   * Lets one connection check the files, while others begin. The check is complete when the monitor
   * of the files is free, because no second check is due.
   */
  private void awaitCheck() throws IOException {
    passInterval();
    talk();
    int before;
    synchronized (files) {
      before = connections.get();
    }
    Patience.eventually(() -> connections.get() > before + CLIENTS);
  }
}
