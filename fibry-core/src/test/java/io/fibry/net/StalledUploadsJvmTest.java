package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorSystem;
import io.fibry.Promise;
import io.fibry.support.Child;
import io.fibry.support.Patience;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Uploads that stall hold more bytes together than the heap of the server has room for. */
class StalledUploadsJvmTest {
  private static final int EXCHANGES = 10;
  private static final int UPLOADS = 200;
  private static final int BODY = 1_000_000;

  /** A server whose handlers read whole bodies; it prints its port, and ends with its input. */
  public static final class Server {
    public static void main(String[] args) throws IOException {
      try (var scope = ActorSystem.openScope("uploads")) {
        var server = HttpServer.open(scope.anonymous(), 0,
            HttpRoutes.none().text("POST /", exchange -> "" + exchange.bodyAsText().length()),
            o -> o.withMaxExchanges(EXCHANGES).withMaxBody(BODY));
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
        var answers = new ArrayList<CompletableFuture<String>>();
        for (int i = 0; i < UPLOADS; i++) {
          var client = new RawClient(port);
          clients.add(client);
          answers.add(stalled(client));
        }
        // one exchange may wait for its body for each that may run; the server refuses all others
        Patience
            .eventually(() -> answers.stream().filter(CompletableFuture::isDone).count() == UPLOADS - 2 * EXCHANGES);
        for (var answer : answers) if (answer.isDone()) assertEquals("503", RawClient.codes(Patience.value(answer)));

        for (int i = 0; i < UPLOADS; i++) if (!answers.get(i).isDone()) {
          clients.get(i).send("x");
          assertTrue(Patience.value(answers.get(i)).endsWith("\r\n\r\n" + BODY));
        }
        jvm.input().close();
        assertEquals(0, jvm.exitCode(), jvm::output);
      } finally {
        for (var client : clients) client.close();
      }
    }
  }

  /** Sends all but the last byte of a body, on another thread: a refused client's is not read. */
  private static CompletableFuture<String> stalled(RawClient client) {
    var answer = new CompletableFuture<String>();
    Patience.elsewhere(() -> {
      try {
        client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: " + BODY + "\r\n\r\n");
        client.send("x".repeat(BODY - 1));
      } catch (IOException refused) {
        // its response may be there all the same
      }
      return client.one();
    }, answer);
    return answer;
  }
}
