package io.fibry.dashboard;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.cluster.Cluster;
import io.fibry.net.HttpRoutes;
import io.fibry.net.HttpServer;
import io.fibry.net.ServerTls;
import io.fibry.pubsub.Topic;
import io.fibry.store.folder.FolderStore;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs the code that the Javadoc and the README show. */
class JavadocSnippetsTest {
  private final ActorScope scope = ActorSystem.openScope("shop");

  @AfterEach
  void close() {
    scope.close();
  }

  /**
   * Returns a context without a certificate. A server with this context can listen, but no browser
   * can connect to it.
   */
  private static SSLContext sslContextWithoutCertificate() throws Exception {
    var keyStore = KeyStore.getInstance("PKCS12");
    keyStore.load(null, null);
    var keys = KeyManagerFactory.getInstance("PKIX");
    keys.init(keyStore, new char[0]);
    var context = SSLContext.getInstance("TLS");
    context.init(keys.getKeyManagers(), null, null);
    return context;
  }

  @Test
  void dashboardOpensOnFreePort() throws Exception {
    // @start region="dashboard"
    try (var dashboard = Dashboard.open(scope, 0)) { // or a port of your choice
      System.out.println("see " + dashboard.uri());
    }
    // @end
  }

  @Test
  void dashboardWithTlsOptionHasHttpsUri() throws Exception {
    var everywhere = new InetSocketAddress(0).getAddress();
    var tls = ServerTls.of(sslContextWithoutCertificate());
    var password = "correct horse";
    // @start region="options"
    var dashboard = Dashboard.open(scope, 0, o -> o
        .withAddress(everywhere).withHost("dash.example.org") // the name in the browser's address line
        .withTls(tls).withPassword(password)                  // any user name will do
        .withMessageContents()                                   // shows what messages say
        .withHandlingLimit(Duration.ofMinutes(1))                // a handler that takes longer is stuck
        .withWaitingLimit(Duration.ofMinutes(5))                 // an actor whose message waits longer is backlogged
        .withSlowLimit(Duration.ofMillis(250)));                 // a route that takes longer is slow
    // @end
    assertTrue(dashboard.uri().toString().startsWith("https://localhost:"));
    dashboard.close();
  }

  @Test
  void dashboardShowsPanelsOfServerStoreAndNode(@TempDir Path folder) throws Exception {
    var carts = new ConcurrentHashMap<String, List<String>>();
    var server = HttpServer.open(scope.named("web"), 0, HttpRoutes.none().text("GET /", exchange -> "shop"), o -> o);
    Topic<String> sold = Topic.open(scope.named("sold"));
    try (var store = FolderStore.open(folder); var cluster = Cluster.local("shop")) {
      // @start region="panels"
      var dashboard = Dashboard.open(scope, 0, o -> o
          .withRoutes("api", server)                               // the routes of an HTTP server
          .withTopic(sold)                                         // the messages of a topic
          .withStore("orders", store)                              // the health of a FolderStore
          .withCluster(cluster)                                    // the health of a node
          .withPanel("Shop", () -> Map.of("carts", carts.size()))); // values of your own
      // @end
      var text = Web.get(dashboard.port(), "/statistics");
      assertEquals(5, text.substring(text.indexOf("\"panels\"")).split("\"title\"", -1).length - 1, text);
      dashboard.close();
    }
  }
}
