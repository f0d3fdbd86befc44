package io.fibry.dashboard;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorSystem;
import io.fibry.net.ServerTls;
import io.fibry.support.Certificates;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import org.junit.jupiter.api.Test;

class TlsTest {
  @Test
  void pageIsServedOverTls() throws Exception {
    var context = Certificates.context();

    try (var scope = ActorSystem.openScope("app");
        var dashboard = Dashboard.open(scope, 0, options -> options.withTls(ServerTls.of(context)));
        var client = HttpClient.newBuilder().sslContext(context).build()) {
      var answer = client.send(HttpRequest.newBuilder(dashboard.uri()).build(), BodyHandlers.ofString());

      assertEquals("https", dashboard.uri().getScheme());
      assertTrue(answer.body().contains("<title>Fibry dashboard</title>"), answer::body);
      assertTrue(answer.sslSession().isPresent());
    }
  }
}
