package io.fibry.bench;

import java.util.concurrent.Semaphore;
import java.util.function.Consumer;

/**
 * The handler of an actor whose messages are counted: when all expected ones were handled, it says
 * so.
 */
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
