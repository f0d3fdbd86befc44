package io.fibry.net.websocket;

import io.fibry.Handler;
import io.fibry.net.WebSocketConnection;
import java.util.concurrent.CompletableFuture;

/** Records the first WebSocket of a route, and the outcome of its handler. Thread-safe. */
final class WebSocketRecorder {
  final CompletableFuture<WebSocketConnection> connectionFuture = new CompletableFuture<>();
  final CompletableFuture<Object> outcome = new CompletableFuture<>(); // "returned", or the exception of the handler

  Handler<WebSocketConnection> recordOutcome(Handler<WebSocketConnection> handler) {
    return connection -> {
      connectionFuture.complete(connection);
      try {
        handler.handle(connection);
        outcome.complete("returned");
      } catch (Throwable failure) {
        outcome.complete(failure);
        throw failure;
      }
    };
  }
}
