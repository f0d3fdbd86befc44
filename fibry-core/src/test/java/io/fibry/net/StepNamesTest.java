package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorStats;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import java.io.IOException;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests how the work of a connection is named where its content is hidden. */
class StepNamesTest {
  private final ServerScope net = new ServerScope(options -> options.withMessageContents(false));
  private final Gate gate = new Gate();

  @AfterEach
  void close() {
    net.close();
  }

  private Optional<String> typeOf(String actor) {
    return net.scope.actors().stream().filter(stats -> stats.name().equals(actor)).findFirst()
        .flatMap(ActorStats::messageType);
  }

  @Promise("19.13")
  @Test
  void exchangeIsNamedByItsRouteWhereContentIsHidden() throws IOException {
    var routes = HttpRoutes.none().text("GET /orders/{id}", exchange -> {
      gate.pass();
      return "order";
    });
    var server = HttpServer.open(net.scope.named("web"), 0, routes, o -> o);
    try (var client = new RawClient(server.port())) {
      client.send(RawClient.get("/orders/77?token=secret"));
      Patience.await(gate.entered);
      Patience.eventually(() -> typeOf("web/1").equals(Optional.of("GET /orders/{id}")));

      var dump = net.scope.dump();
      assertTrue(dump.contains("GET /orders/{id}"), dump);
      assertFalse(dump.contains("77") || dump.contains("secret"), dump);
    }
  }

  @Promise("19.13")
  @Test
  void conversationIsNamedConnection() throws IOException {
    var acceptor = TcpAcceptor.open(net.scope.named("tcp"), 0, connection -> gate.pass(), o -> o);
    try (var client = new RawClient(acceptor.port())) {
      client.send("a line");
      Patience.await(gate.entered);
      Patience.eventually(() -> typeOf("tcp/1").equals(Optional.of("connection")));
    }
  }
}
