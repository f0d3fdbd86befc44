package io.fibry.engine.message;

import io.fibry.spi.EncodedAsk;

/**
 * A request whose result is encoded by the thread that completes it. SETTLED is set before the
 * encoding, so only one thread encodes, and a limit or an interrupt that comes later waits for the
 * result.
 */
public final class EncodedRequest extends RequestFuture<Object> {
  private final EncodedAsk ask;

  public EncodedRequest(Recipient recipient, Object message, Baggage baggage, EncodedAsk ask) {
    super(recipient, message, baggage, true);
    this.ask = ask;
  }

  /** Encodes the result. An expired request keeps its marker: its asker makes the exception. */
  @Override
  void set(Object value, Throwable failure) {
    if (failure == RequestFailures.EXPIRED) super.set(null, failure);
    else super.set(failure == null ? encode(value) : ask.encodeFailure(failure), null);
  }

  private Object encode(Object value) {
    try {
      return ask.encode(value);
    } catch (VirtualMachineError fatal) { // the caller has more stack, and fails the request
      throw fatal;
    } catch (Throwable failure) { // such as an AssertionError of an accessor
      return ask.encodeFailure(failure);
    }
  }
}
