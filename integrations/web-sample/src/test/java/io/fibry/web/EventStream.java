package io.fibry.web;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.support.Patience;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.Stream;

/** A client that reads the news as server-sent events. */
final class EventStream implements AutoCloseable {
  private final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final BlockingQueue<String> news = new LinkedBlockingQueue<>();
  private final CompletableFuture<Void> end = new CompletableFuture<>();

  EventStream(int port) throws Exception {
    var request = HttpRequest.newBuilder(URI.create("http://localhost:" + port + "/news"))
        .header("Accept", "text/event-stream").build();
    var response = client.send(request, BodyHandlers.ofLines());
    assertEquals(200, response.statusCode());
    assertEquals("text/event-stream", response.headers().firstValue("Content-Type").orElseThrow().split(";")[0]);
    Thread.startVirtualThread(() -> read(response.body()));
  }

  private void read(Stream<String> lines) {
    try {
      lines.filter(line -> line.startsWith("data:")).forEach(line -> news.add(line.replaceFirst("data: ?", "")));
      end.complete(null);
    } catch (RuntimeException cut) {
      end.completeExceptionally(cut);
    }
  }

  /** Waits for the next event, and returns its text. */
  String next() {
    return Patience.nextOf(news);
  }

  /** Waits until the server has ended the stream in an orderly way. */
  void awaitEnd() {
    Patience.value(end);
  }

  /** Disconnects without notice. */
  @Override
  public void close() {
    client.shutdownNow();
  }
}
