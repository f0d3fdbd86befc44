package io.fibry.examples.web;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;

/** A guest of the chat, connected by a WebSocket. */
public final class Browser implements WebSocket.Listener, AutoCloseable {
  private final BlockingQueue<String> received = new LinkedBlockingQueue<>();
  private final HttpClient client = HttpClient.newHttpClient();
  private final WebSocket socket;

  public Browser(String address) {
    socket = client.newWebSocketBuilder().buildAsync(URI.create(address), this).join();
  }

  @Override
  public CompletionStage<?> onText(WebSocket socket, CharSequence text, boolean last) {
    received.add(text.toString());
    socket.request(1);
    return null;
  }

  /** Waits for the next text, and returns it. */
  public String hear() throws InterruptedException {
    return received.take();
  }

  public void say(String text) {
    socket.sendText(text, true).join();
  }

  @Override
  public void close() {
    socket.sendClose(WebSocket.NORMAL_CLOSURE, "").join();
    client.close();
  }
}
