package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.net.HttpRoutes;
import io.fibry.net.HttpServer;
import io.fibry.net.ServerTls;
import io.fibry.support.Certificates;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs the snippet in the Javadoc of TLS. */
class TlsSnippetsTest {
  @Test
  void httpsServerRespondsWithCertificateFromFiles(@TempDir Path folder) throws Exception {
    Certificates.write(Certificates.of("server", "EC"), folder.resolve("fullchain.pem"), folder.resolve("privkey.pem"));
    var routes = HttpRoutes.none().text("/hello", exchange -> "hello");
    // @start region="tls"
    var tls = ServerTls.ofFiles(folder.resolve("fullchain.pem"), folder.resolve("privkey.pem"));
    var server = HttpServer.open(ActorSystem.named("web"), 0, routes, o -> o.withTls(tls));
    // @end
    try (server; var client = HttpClient.newBuilder().sslContext(Certificates.context()).build()) {
      var request = HttpRequest.newBuilder(URI.create("https://localhost:" + server.port() + "/hello")).build();
      assertEquals("hello", client.send(request, BodyHandlers.ofString()).body());
    }
  }
}
