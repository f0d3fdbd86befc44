package io.fibry.dashboard;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorSystem;
import io.fibry.net.Tls;
import io.fibry.support.Child;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.List;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TlsTest {
  private static final char[] PASSWORD = "changeit".toCharArray();

  @TempDir
  Path folder;

  /** Has a certificate of its own, and trusts it. */
  private SSLContext context() throws Exception {
    var file = folder.resolve("keys");
    var keytool = Path.of(System.getProperty("java.home"), "bin", "keytool").toString();
    try (var child = Child.start(List.of(keytool, "-genkeypair", "-alias", "a", "-keyalg", "EC", "-dname",
        "CN=localhost", "-ext", "san=dns:localhost", "-storetype", "PKCS12", "-storepass", "changeit", "-keystore",
        file.toString()))) {
      child.ended(0);
    }
    var keys = KeyStore.getInstance("PKCS12");
    try (var in = Files.newInputStream(file)) {
      keys.load(in, PASSWORD);
    }
    var own = KeyManagerFactory.getInstance("PKIX");
    own.init(keys, PASSWORD);
    var trusted = TrustManagerFactory.getInstance("PKIX");
    trusted.init(keys);
    var context = SSLContext.getInstance("TLS");
    context.init(own.getKeyManagers(), trusted.getTrustManagers(), null);
    return context;
  }

  @Test
  void thePageComesThroughTls() throws Exception {
    var context = context();

    try (var scope = ActorSystem.openScope("app");
        var dashboard = Dashboard.open(scope, 0, options -> options.withTls(Tls.of(context)));
        var client = HttpClient.newBuilder().sslContext(context).build()) {
      var answer = client.send(HttpRequest.newBuilder(dashboard.uri()).build(), BodyHandlers.ofString());

      assertEquals("https", dashboard.uri().getScheme());
      assertTrue(answer.body().contains("<title>Fibry dashboard</title>"), answer::body);
      assertTrue(answer.sslSession().isPresent());
    }
  }
}
