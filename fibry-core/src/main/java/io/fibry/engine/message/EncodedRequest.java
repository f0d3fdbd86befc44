package io.fibry.engine.message;

import io.fibry.spi.EncodedAsk;

/**
 * A request whose answer is encoded by the thread that completes it, before that thread settles the
 * request. Encoding runs code of users, and code that waits must not delay a limit, an interrupt of
 * the asker, or a kill. These settle the request meanwhile, and then the encoded answer is ignored.
 */
public final class EncodedRequest extends RequestFuture<Object> {
  private final EncodedAsk ask;
  // null if there is none; written by the thread that completes the future, then read by the asker
  private Throwable encodedFailure;

  public EncodedRequest(Recipient recipient, Object message, Baggage baggage, EncodedAsk ask) {
    super(recipient, message, baggage, true);
    this.ask = ask;
  }

  @Override
  public void finish(Object value) {
    if (isDone()) return;
    Object encoded;
    try {
      encoded = ask.encode(value);
    } catch (Throwable failure) { // no failure of the handler, which has succeeded
      fail(failure);
      return;
    }
    super.finish(encoded);
  }

  @Override
  public void fulfill(Object value, Throwable failure) {
    if (failure == null) finish(value);
    else super.fulfill(null, failure);
  }

  /** Completes the future. An expired request keeps its marker: its asker makes the exception. */
  @Override
  void set(Object value, Throwable failure) {
    if (failure == null || failure == RequestFailures.EXPIRED) super.set(value, failure);
    else {
      encodedFailure = failure;
      super.set(ask.encodeFailure(failure), null);
    }
  }

  /**
   * Returns the failure that is encoded in the result; null if the result is an answer. Called by
   * the asker, which has got the result.
   */
  public Throwable encodedFailure() {
    return encodedFailure;
  }
}
