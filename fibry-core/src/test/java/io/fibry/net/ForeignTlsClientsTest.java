package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.fibry.support.Certificates;
import io.fibry.support.Child;
import io.fibry.testing.Promise;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import javax.security.auth.x500.X500Principal;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests TLS with client programs of other projects, if they are installed. */
class ForeignTlsClientsTest {
  private final ServerScope net = new ServerScope();
  private Path authority;
  private Path key;
  private HttpServer server;

  @TempDir
  Path folder;

  @BeforeEach
  void open() {
    authority = folder.resolve("certificate.pem");
    key = folder.resolve("key.pem");
    Certificates.write(Certificates.of("server", "EC"), authority, key);
    server = HttpServer.open(net.scope.anonymous(), 0, HttpRoutes.none().text("/count", exchange -> exchange.method()
        + " " + exchange.bodyAsBytes().length + " " + exchange.tls().orElseThrow().getProtocol() + "\n"),
        o -> o.withTls(ServerTls.ofFiles(authority, key)).withMaxBody(10_000_000));
  }

  @AfterEach
  void close() {
    net.close();
  }

  private static void assumeInstalled(String program) {
    assumeTrue(Stream.of(System.getenv("PATH").split(File.pathSeparator))
        .anyMatch(folder -> Files.isExecutable(Path.of(folder, program))), program + " is not installed");
  }

  private String run(String input, String... command) {
    assumeInstalled(command[0]);
    try (var child = Child.start(List.of(command))) {
      try (var in = child.input()) {
        in.write(input.getBytes(StandardCharsets.US_ASCII));
      } catch (IOException programEnded) {}
      child.exitCode();
      return child.output();
    }
  }

  private String url() {
    return "https://localhost:" + server.port() + "/count";
  }

  @Test
  void curlSendsRequestsOverTls() throws Exception {
    assertEquals("GET 0 TLSv1.3\nGET 0 TLSv1.3",
        run("", "curl", "-sS", "--cacert", authority.toString(), url(), url()));
    assertEquals("POST 3000000 TLSv1.2", run("x".repeat(3_000_000), "curl", "-sS", "--tls-max", "1.2", "--cacert",
        authority.toString(), "--data-binary", "@-", url()));
    assertTrue(run("", "curl", "-sS", url()).contains("certificate"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"-tls1_2", "-tls1_3"})
  void opensslSendsRequestOverTls(String protocol) throws Exception {
    var output = run("GET /count HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", "openssl", "s_client",
        "-connect", "localhost:" + server.port(), "-CAfile", authority.toString(), "-ign_eof", "-alpn", "h2,http/1.1",
        protocol);

    assertTrue(output.contains("Verify return code: 0 (ok)") && output.contains("ALPN protocol: http/1.1"), output);
    assertTrue(output.contains("HTTP/1.1 200 OK") && output.contains("GET 0 TLSv1."), output);
  }

  @Test
  void opensslCannotConnectWithTls11() throws Exception {
    assertFalse(run("", "openssl", "s_client", "-connect", "localhost:" + server.port(), "-tls1_1")
        .contains("Cipher is ECDHE"));
  }

  @Test
  void pythonSendsRequestsOverTls() throws Exception {
    var program = "import http.client, ssl, sys\n"
        + "c = http.client.HTTPSConnection('localhost', int(sys.argv[1]), "
        + "context=ssl.create_default_context(cafile=sys.argv[2]))\n"
        + "for i in range(3):\n"
        + "  c.request('POST', '/count', b'x' * 100000 * i)\n"
        + "  print(c.getresponse().read().decode(), end='')\n";

    assertEquals("POST 0 TLSv1.3\nPOST 100000 TLSv1.3\nPOST 200000 TLSv1.3",
        run("", "python3", "-c", program, Integer.toString(server.port()), authority.toString()));
  }

  @Test
  void nodeSendsRequestsOverTls() throws Exception {
    var program = "const https = require('https'), fs = require('fs');"
        + "const agent = new https.Agent({keepAlive: true, maxSockets: 1, ca: fs.readFileSync(process.argv[2])});"
        + "const next = i => { const r = https.request({host: 'localhost', port: +process.argv[1], path: '/count', "
        + "method: 'POST', agent}, a => { a.on('data', d => process.stdout.write(d)); "
        + "a.on('end', () => i < 2 ? next(i + 1) : agent.destroy()); }); r.end(Buffer.alloc(100000 * i)); };"
        + "next(0);";

    assertEquals("POST 0 TLSv1.3\nPOST 100000 TLSv1.3\nPOST 200000 TLSv1.3",
        run("", "node", "-e", program, Integer.toString(server.port()), authority.toString()));
  }

  @Test
  void renegotiationByOpensslIsRefused() throws Exception {
    assumeInstalled("openssl");
    try (var child = Child.start(List.of("openssl", "s_client", "-connect", "localhost:" + server.port(), "-CAfile",
        authority.toString(), "-tls1_2"))) {
      child.input().write("R\n".getBytes(StandardCharsets.US_ASCII)); // requests a renegotiation
      child.input().flush();
      int exit = child.exitCode(); // openssl ends because the server cuts it off
      var output = child.output();

      assertTrue(output.contains("RENEGOTIATING"), output);
      assertTrue(exit != 0 || output.contains("error") || output.contains("closed"), output);
    }
  }

  // ---- certificates of clients

  private String runCurlAs(String name) {
    var clientCertificate = folder.resolve(name + ".pem");
    var clientKey = folder.resolve(name + "-key.pem");
    Certificates.write(Certificates.of(name, "EC"), clientCertificate, clientKey);
    return run("", "curl", "-sS", "--cacert", authority.toString(), "--cert", clientCertificate.toString(), "--key",
        clientKey.toString(), url());
  }

  /** Unlike the client of the JDK, curl also sends a certificate that the server does not want. */
  @Promise("27.28")
  @Test
  void exchangeNamesCurlClientOnlyByVerifiedCertificate() throws Exception {
    var authorities = folder.resolve("authorities.pem");
    Certificates.write(Certificates.of("client", "EC"), authorities, folder.resolve("unused.pem"));
    var tls = ServerTls.ofFiles(authority, key, authorities);
    server = HttpServer.open(net.scope.anonymous(), 0,
        HttpRoutes.none().text("/count", exchange -> exchange.attribute(X500Principal.class).toString()),
        o -> o.withTls(tls.withParameters(p -> p.setWantClientAuth(true))));

    assertEquals("Optional[CN=client]", runCurlAs("client"));
    var refusal = runCurlAs("eve");
    assertTrue(refusal.startsWith("curl: "), refusal);
    assertEquals("Optional.empty", run("", "curl", "-sS", "--cacert", authority.toString(), url()));
  }

  // ---- keys of OpenSSL

  private void runOpenssl(String... arguments) {
    var command = new ArrayList<>(List.of("openssl"));
    command.addAll(List.of(arguments));
    run("", command.toArray(String[]::new));
  }

  /** The command is in the text of the exception, and only lacks the password. */
  @Promise("27.29")
  @Test
  void opensslCommandInExceptionTextDecryptsKey() throws Exception {
    var encryptedKey = folder.resolve("encrypted key.pem");
    for (var options : List.of(List.of("pkcs8", "-topk8"), List.of("ec", "-aes128"))) {
      var arguments = new ArrayList<>(options);
      arguments.addAll(List.of("-in", key.toString(), "-out", encryptedKey.toString(), "-passout", "pass:secret"));
      runOpenssl(arguments.toArray(String[]::new));
      assertTrue(Files.readString(encryptedKey).contains("ENCRYPTED"), options::toString);

      var text = assertThrows(IllegalArgumentException.class, () -> ServerTls.ofFiles(authority, encryptedKey))
          .getMessage();
      var decryptedKey = folder.resolve(options.getFirst() + ".pem");
      var command = text.split("'")[1].replace("decrypted.pem", decryptedKey.toString());
      run("", "sh", "-c", command + " -passin pass:secret");

      ServerTls.ofFiles(authority, decryptedKey);
    }
  }
}
