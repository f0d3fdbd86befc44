package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorSystem;
import io.fibry.support.Child;
import io.fibry.support.Patience;
import io.fibry.testing.Promise;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Tests stalled uploads that together exceed the heap of the server. */
class StalledUploadsJvmTest {
  private static final int EXCHANGES = 10;
  private static final int UPLOADS = 200;
  private static final int BODY = 1_000_000;
  private static final String BEGUN = "begun";

  /**
   * A server whose handlers read whole bodies. It prints its port, and ends when its standard input
   * ends.
   */
  public static final class Server {
    public static void main(String[] args) throws IOException {
      try (var scope = ActorSystem.openScope("uploads")) {
        var server = HttpServer.open(scope.anonymous(), 0,
            HttpRoutes.none().text("POST /", exchange -> {
              System.out.println(BEGUN);
              return "" + exchange.bodyAsText().length();
            }), o -> o.withMaxExchanges(EXCHANGES).withMaxBody(BODY).withBodyLimit(Duration.ofHours(1)));
        System.out.println("port " + server.port());
        System.in.read();
      }
    }
  }

  @Promise("27.4")
  @Test
  void stalledUploadsDoNotFillTheHeap() throws Exception {
    try (var jvm = Child.java(List.of("-Xmx128m", "-XX:+ExitOnOutOfMemoryError"), Server.class)) {
      int port = Integer.parseInt(jvm.awaitLine(line -> line.startsWith("port ")).substring("port ".length()));
      var clients = new ArrayList<RawClient>();
      try {
        var responses = new ArrayList<CompletableFuture<String>>();
        for (int i = 0; i < UPLOADS; i++) {
          var client = new RawClient(port);
          clients.add(client);
          responses.add(stallUpload(client));
        }
        // waits until each exchange was refused, or has begun and waits for its body
        Patience.eventually(
            () -> responses.stream().filter(CompletableFuture::isDone).count() + countBegun(jvm) == UPLOADS);
        var waitingIndices = IntStream.range(0, UPLOADS).filter(i -> !responses.get(i).isDone()).boxed().toList();
        assertTrue(EXCHANGES <= waitingIndices.size() && waitingIndices.size() <= 2 * EXCHANGES,
            waitingIndices::toString);

        for (int i : waitingIndices) {
          clients.get(i).send("x");
          assertTrue(Patience.value(responses.get(i)).endsWith("\r\n\r\n" + BODY));
        }
        for (int i = 0; i < UPLOADS; i++) {
          var codes = RawClient.codes(Patience.value(responses.get(i)));
          assertTrue(waitingIndices.contains(i) ? codes.equals("200") : Set.of("503", "closed").contains(codes), codes);
        }
        jvm.input().close();
        assertEquals(0, jvm.exitCode(), jvm::output);
      } finally {
        for (var client : clients) client.close();
      }
    }
  }

  private static long countBegun(Child jvm) {
    return jvm.lines().stream().filter(BEGUN::equals).count();
  }

  /**
   * Sends all bytes of a body except the last. Sends on another thread, because the server does not
   * read the body of a refused client.
   */
  private static CompletableFuture<String> stallUpload(RawClient client) {
    CompletableFuture<String> response = Patience.callOnFiber(() -> {
      try {
        client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: " + BODY + "\r\n\r\n");
        client.send("x".repeat(BODY - 1));
      } catch (IOException refused) {
        // the server refused the client, but its response may have arrived
      }
      try {
        return client.readResponse();
      } catch (IOException reset) { // a reset may overtake the response
        return "";
      }
    });
    return response;
  }
}
