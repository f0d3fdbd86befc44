package io.fibry.web;

import io.fibry.support.Patience;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;

/** A client that reads the news from a WebSocket. */
final class NewsSocketClient implements WebSocket.Listener, AutoCloseable {
  private final HttpClient client = HttpClient.newHttpClient();
  private final BlockingQueue<String> news = new LinkedBlockingQueue<>();
  private final CompletableFuture<Integer> closeCode = new CompletableFuture<>();
  private final StringBuilder fragments = new StringBuilder(); // used by one thread of the client at a time
  private final WebSocket socket;

  NewsSocketClient(int port) {
    socket = Patience.value(
        client.newWebSocketBuilder().buildAsync(URI.create("ws://localhost:" + port + "/news/socket"), this));
  }

  @Override
  public CompletionStage<?> onText(WebSocket webSocket, CharSequence text, boolean isLast) {
    fragments.append(text);
    if (isLast) {
      news.add(fragments.toString());
      fragments.setLength(0);
    }
    webSocket.request(1);
    return null;
  }

  @Override
  public CompletionStage<?> onClose(WebSocket webSocket, int code, String reason) {
    closeCode.complete(code);
    return null;
  }

  @Override
  public void onError(WebSocket webSocket, Throwable failure) {
    closeCode.completeExceptionally(failure);
  }

  /** Waits for the next text, and returns it. */
  String next() {
    return Patience.nextOf(news);
  }

  /** Waits until the server has closed the WebSocket, and returns the code. */
  int awaitClose() {
    return Patience.value(closeCode);
  }

  /** Closes the WebSocket in an orderly way. */
  void sayGoodbye() {
    Patience.value(socket.sendClose(WebSocket.NORMAL_CLOSURE, ""));
  }

  /** Disconnects without notice. */
  void abort() {
    socket.abort();
  }

  @Override
  public void close() {
    abort();
    client.shutdownNow();
  }
}
