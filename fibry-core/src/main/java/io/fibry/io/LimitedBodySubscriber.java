package io.fibry.io;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;

/** A body up to a limit; a longer or unwanted one is cancelled, with its connection. */
final class LimitedBodySubscriber implements HttpResponse.BodySubscriber<byte[]> {
  private final CompletableFuture<byte[]> body = new CompletableFuture<>();
  // copies, since a buffer may be much longer than its content
  private final ByteArrayOutputStream kept = new ByteArrayOutputStream();
  private final int maxBytes; // 0: unwanted
  private Flow.Subscription subscription;

  private LimitedBodySubscriber(int maxBytes) {
    this.maxBytes = maxBytes;
  }

  /** Decides by the head, before the body is read. */
  static HttpResponse.BodyHandler<byte[]> handler(int maxBytes) {
    return head -> {
      var capped = new LimitedBodySubscriber(isSuccess(head.statusCode()) ? maxBytes : 0);
      long told = head.headers().firstValueAsLong("Content-Length").orElse(0);
      if (capped.maxBytes > 0 && told > maxBytes) capped.body.completeExceptionally(capped.tooLong());
      return capped;
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
      if (buffer.remaining() > maxBytes - kept.size()) {
        subscription.cancel();
        body.completeExceptionally(tooLong());
        return;
      }
      var bytes = new byte[buffer.remaining()];
      buffer.get(bytes);
      kept.writeBytes(bytes);
    }
    subscription.request(1);
  }

  @Override
  public void onError(Throwable failure) {
    body.completeExceptionally(failure);
  }

  @Override
  public void onComplete() {
    body.complete(kept.toByteArray());
  }

  private IOException tooLong() {
    return new IOException(
        "the body is longer than " + maxBytes + " bytes; allow more by withMaxBytes(..)");
  }
}
