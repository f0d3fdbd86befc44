package io.fibry.bench;

import java.util.concurrent.Semaphore;
import java.util.function.Consumer;

/** A handler that releases a permit after the expected number of messages. */
final class MessageCountdown implements Consumer<Object> {
  private final Semaphore allHandled;
  private int remaining; // written by the sender before it sends, then by the actor alone

  MessageCountdown(Semaphore allHandled) {
    this.allHandled = allHandled;
  }

  void expect(int messages) {
    remaining = messages;
  }

  @Override
  public void accept(Object message) {
    if (--remaining == 0) allHandled.release();
  }
}
