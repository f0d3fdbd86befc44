package io.fibry.net.websocket;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.fibry.net.HttpOptions;
import io.fibry.net.HttpRoutes;
import io.fibry.net.HttpServer;
import io.fibry.net.ServerScope;
import io.fibry.net.WebSocketMessage;
import io.fibry.net.http.HttpListener;
import io.fibry.support.Certificates;
import io.fibry.support.Child;
import io.fibry.support.Patience;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.net.http.WebSocketHandshakeException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests WebSockets with clients of other projects: the JDK with and without TLS, and Python and
 * Node, if they are installed.
 */
class WebSocketClientsTest {
  private final ServerScope net = new ServerScope();
  private final HttpClient client = HttpClient.newBuilder().sslContext(Certificates.context()).build();
  @TempDir
  private Path temporary;
  private HttpServer server;

  @AfterEach
  void close() {
    client.shutdownNow();
    net.close();
  }

  private void open(UnaryOperator<HttpOptions> options) {
    server = HttpServer.open(net.scope.anonymous(), 0, HttpRoutes.none().webSocket("/echo", connection -> {
      for (var message : connection.messages()) switch (message) {
        case WebSocketMessage.Text(var text) when text.equals("bye") -> connection.close(4000, "tschüß");
        case WebSocketMessage.Text(var text) -> connection.textActor().sendMessage(text);
        case WebSocketMessage.Binary(var data) -> connection.binaryActor().sendMessage(data);
      }
    }, o -> o.withSubprotocols("echo").withMaxMessage(5_000_000).withMaxUnsent(20_000_000)), options);
  }

  private static final class Recorder implements WebSocket.Listener {
    private final List<String> received = new CopyOnWriteArrayList<>();
    private final CompletableFuture<String> closed = new CompletableFuture<>();
    private final StringBuilder text = new StringBuilder();
    private int bytes;

    @Override
    public CompletionStage<?> onText(WebSocket socket, CharSequence part, boolean isLast) {
      text.append(part);
      if (isLast) {
        received.add(text.length() > 20 ? "text " + text.length() : text.toString());
        text.setLength(0);
      }
      socket.request(1);
      return null;
    }

    @Override
    public CompletionStage<?> onBinary(WebSocket socket, ByteBuffer part, boolean isLast) {
      bytes += part.remaining();
      if (isLast) received.add("bytes " + bytes);
      if (isLast) bytes = 0;
      socket.request(1);
      return null;
    }

    @Override
    public CompletionStage<?> onPong(WebSocket socket, ByteBuffer data) {
      received.add("pong " + StandardCharsets.UTF_8.decode(data));
      socket.request(1);
      return null;
    }

    @Override
    public CompletionStage<?> onClose(WebSocket socket, int code, String reason) {
      closed.complete(code + " " + reason);
      return null;
    }

    @Override
    public void onError(WebSocket socket, Throwable failure) {
      closed.completeExceptionally(failure);
    }
  }

  private WebSocket connect(boolean tls, Recorder listener, String... subprotocols) {
    var builder = client.newWebSocketBuilder();
    if (subprotocols.length > 0) builder.subprotocols(subprotocols[0]);
    return Patience.value(
        builder.buildAsync(URI.create((tls ? "wss" : "ws") + "://localhost:" + server.port() + "/echo"), listener));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void jdkClientExchangesMessages(boolean tls) {
    open(o -> tls ? o.withTls(Certificates.context()) : o);
    var listener = new Recorder();
    var socket = connect(tls, listener, "echo");
    assertEquals("echo", socket.getSubprotocol());

    socket.sendText("grüß ", false).join();
    socket.sendPing(ByteBuffer.wrap(new byte[] {'p'})).join();
    socket.sendText("Gott", true).join();
    socket.sendBinary(ByteBuffer.allocate(3_000_000), true).join();
    socket.sendText("x".repeat(1_000_000), true).join();
    socket.sendText("bye", true).join();

    assertEquals("4000 tschüß", Patience.value(listener.closed));
    assertEquals(List.of("pong p", "grüß Gott", "bytes 3000000", "text 1000000"), listener.received);
    Patience.eventually(() -> ((HttpListener) server).conversations().isEmpty());
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void clientDistinguishesCloseAndKillOfServer(boolean tls) {
    open(o -> tls ? o.withTls(Certificates.context()) : o);
    var closeListener = new Recorder();
    connect(tls, closeListener);
    server.close();
    assertEquals("1001 ", Patience.value(closeListener.closed));

    open(o -> tls ? o.withTls(Certificates.context()) : o);
    var killListener = new Recorder();
    connect(tls, killListener);
    server.kill();
    assertInstanceOf(IOException.class, Patience.failure(killListener.closed));
  }

  @Test
  void refusedOriginGets403() {
    open(o -> o);

    var failure = assertThrows(CompletionException.class, () -> client.newWebSocketBuilder()
        .header("Origin", "http://evil.example")
        .buildAsync(URI.create("ws://localhost:" + server.port() + "/echo"), new Recorder()).join()).getCause();

    assertEquals(403, assertInstanceOf(WebSocketHandshakeException.class, failure).getResponse().statusCode());
  }

  private static final String PYTHON = """
      import sys
      from websockets.sync.client import connect
      with connect(sys.argv[1], subprotocols=["echo"], max_size=None) as ws:
        assert ws.subprotocol == "echo"
        ws.send("grüß Gott"); assert ws.recv() == "grüß Gott"
        ws.send(b"x" * 300000); assert len(ws.recv()) == 300000
        ws.send(["a", "b", "c"]); assert ws.recv() == "abc"
        assert ws.ping().wait(60)
        ws.send("bye")
        try: ws.recv()
        except Exception as e: print(e.rcvd.code, e.rcvd.reason)
      """;

  @Test
  void pythonClientExchangesMessages() throws Exception {
    assertEquals("4000 tschüß", runClient("import websockets.sync.client",
        List.of(System.getProperty("fibry.python", "python3"), "-c"), PYTHON));
  }

  private static final String NODE = """
      const ws = new WebSocket(process.argv.at(-1), ["echo"]);
      const heard = [];
      ws.binaryType = "arraybuffer";
      ws.onopen = () => { ws.send("grüß Gott"); ws.send(new Uint8Array(300000)); ws.send("bye"); };
      ws.onmessage = e => heard.push(e.data.byteLength ?? e.data);
      ws.onclose = e => console.log(ws.protocol, heard.join(" "), e.code, e.reason, e.wasClean);
      """;

  @Test
  void nodeClientExchangesMessages() throws Exception {
    assertEquals("echo grüß Gott 300000 4000 tschüß true",
        runClient("if (typeof WebSocket == 'undefined') process.exit(1)",
            List.of("node", "--experimental-websocket", "-e"), NODE));
  }

  /** Returns the program's output; the test is skipped if the probe fails. */
  private String runClient(String probe, List<String> command, String text) throws Exception {
    assumeTrue(run(command, probe, "") != null, command + " has no WebSocket");
    open(o -> o);
    var output = run(command, text, "ws://localhost:" + server.port() + "/echo");
    assertTrue(output != null, "the program failed");
    return output.strip();
  }

  private String run(List<String> command, String text, String argument) {
    try {
      var outputFile = temporary.resolve("printed"); // standard output only, because warnings go to standard error
      var arguments = new ArrayList<String>(List.of("/bin/sh", "-c",
          "PYTHONIOENCODING=utf-8 exec \"$@\" > \"$0\" 2> /dev/null", outputFile.toString()));
      arguments.addAll(command);
      arguments.addAll(List.of(text, argument));
      try (var child = Child.start(arguments)) {
        return child.exitCode() == 0 ? Files.readString(outputFile) : null;
      }
    } catch (IOException | UncheckedIOException failure) {
      return null;
    }
  }
}
