package io.fibry.opentelemetry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import io.fibry.net.HttpRoutes;
import io.fibry.net.TcpAcceptor;
import io.fibry.support.Patience;
import io.fibry.test.TestScope;
import io.fibry.test.TestServer;
import io.fibry.test.TestServer.TestRequest;
import io.opentelemetry.api.baggage.Baggage;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.sdk.trace.data.SpanData;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests the spans of messages that clients send on connections. */
class MessageSpansTest {
  private final Telemetry telemetry = new Telemetry();
  private final TestScope scope = TestScope.open("shop", o -> o.withContextPropagator(
      OpenTelemetryTraces.of(telemetry.api(), options -> options.withLocalSpans(actor -> true))));

  @AfterEach
  void close() {
    scope.close();
    telemetry.close();
  }

  @Test
  void messageOfWebSocketBeginsTraceLinkedToExchange() {
    var clerk = scope.named("clerk")
        .newActorWithReturn((String text) -> text + " " + Baggage.current().getEntryValue("tenant"));
    var web = TestServer.open(scope, HttpRoutes.none().webSocket("/rooms/{room}", connection -> {
      for (var text : connection.texts()) connection.textActor().sendMessage(clerk.ask(text));
    }));

    var client = web.webSocket(TestRequest.of("GET /rooms/tea").header("baggage", "tenant=acme"));
    client.send("hat");
    assertEquals("hat acme", client.receiveText());
    scope.assertQuiet();

    var message = telemetry.span("message /rooms/{room}");
    var exchange = telemetry.span("GET /rooms/{room}");
    assertEquals(SpanKind.CONSUMER, message.getKind());
    assertNotEquals(exchange.getTraceId(), message.getTraceId());
    assertEquals(exchange.getSpanContext(), message.getLinks().getFirst().getSpanContext());
    assertEquals(Map.of(AttributeKey.stringKey("http.route"), "/rooms/{room}",
        AttributeKey.stringKey("url.path"), "/rooms/tea", AttributeKey.stringKey("network.protocol.name"), "websocket",
        AttributeKey.stringKey("fibry.outcome"), "done"), message.getAttributes().asMap());
    assertEquals(message.getSpanId(), telemetry.span("handle clerk").getParentSpanId());
  }

  @Test
  void lineOfTcpConnectionIsTraceWithItsFailure() throws Exception {
    var acceptor = TcpAcceptor.open(scope.named("till"), 0, connection -> {
      for (var line : connection.lines()) if (line.equals("bad")) throw new IllegalStateException("no such item");
    }, o -> o);

    try (var socket = new Socket(InetAddress.getLoopbackAddress(), acceptor.port())) {
      socket.getOutputStream().write("hat\nbad\n".getBytes(StandardCharsets.UTF_8));
      Patience.eventually(() -> telemetry.spans().size() == 2);
    }

    assertEquals(2, telemetry.spans().stream().map(SpanData::getTraceId).distinct().count());
    var failed = telemetry.spans().getLast();
    assertEquals("message till", failed.getName());
    assertEquals(StatusCode.ERROR, failed.getStatus().getStatusCode());
    assertEquals("failed", failed.getAttributes().get(AttributeKey.stringKey("fibry.outcome")));
  }
}
