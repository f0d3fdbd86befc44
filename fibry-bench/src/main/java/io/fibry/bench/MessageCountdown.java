package io.fibry.bench;

import java.util.concurrent.Semaphore;
import java.util.function.Consumer;

/** A handler that releases a permit after the expected number of messages. */
final class MessageCountdown implements Consumer<Object> {
  private final Semaphore all;
  private int left; // written by the sender before it sends, then by the actor alone

  MessageCountdown(Semaphore all) {
    this.all = all;
  }

  void expect(int messages) {
    left = messages;
  }

  @Override
  public void accept(Object message) {
    if (--left == 0) all.release();
  }
}
