package io.fibry.io;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;

/**
 * Reads a body up to a limit. If the body is longer or unwanted, cancels the body together with its
 * connection.
 */
final class LimitedBodySubscriber implements HttpResponse.BodySubscriber<byte[]> {
  private final CompletableFuture<byte[]> body = new CompletableFuture<>();
  // copies of the bytes, because a buffer may be much longer than its content
  private final ByteArrayOutputStream content = new ByteArrayOutputStream();
  private final int maxBytes; // zero if the body is unwanted
  private Flow.Subscription subscription;

  private LimitedBodySubscriber(int maxBytes) {
    this.maxBytes = maxBytes;
  }

  /** Returns a handler that decides by the head of a response whether the body is read. */
  static HttpResponse.BodyHandler<byte[]> handler(int maxBytes) {
    return head -> {
      var subscriber = new LimitedBodySubscriber(isSuccess(head.statusCode()) ? maxBytes : 0);
      long contentLength = head.headers().firstValueAsLong("Content-Length").orElse(0);
      if (subscriber.maxBytes > 0 && contentLength > maxBytes)
        subscriber.body.completeExceptionally(subscriber.tooLong());
      return subscriber;
    };
  }

  static boolean isSuccess(int status) {
    return status >= 200 && status < 300;
  }

  @Override
  public CompletionStage<byte[]> getBody() {
    return body;
  }

  @Override
  public void onSubscribe(Flow.Subscription subscription) {
    this.subscription = subscription;
    if (maxBytes == 0) body.complete(new byte[0]);
    if (body.isDone()) subscription.cancel();
    else subscription.request(1);
  }

  @Override
  public void onNext(List<ByteBuffer> buffers) {
    if (body.isDone()) return;
    for (var buffer : buffers) {
      if (buffer.remaining() > maxBytes - content.size()) {
        subscription.cancel();
        body.completeExceptionally(tooLong());
        return;
      }
      var bytes = new byte[buffer.remaining()];
      buffer.get(bytes);
      content.writeBytes(bytes);
    }
    subscription.request(1);
  }

  @Override
  public void onError(Throwable failure) {
    body.completeExceptionally(failure);
  }

  @Override
  public void onComplete() {
    body.complete(content.toByteArray());
  }

  private IOException tooLong() {
    return new IOException(
        "the body is longer than " + maxBytes + " bytes; allow more by withMaxBytes(..)");
  }
}
