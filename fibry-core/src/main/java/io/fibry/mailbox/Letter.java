package io.fibry.mailbox;

import java.util.function.BiFunction;

/**
 * A place that is the envelope of its message, too: one object goes from the sender's processor to
 * the taker's, who makes an envelope of his own.
 */
final class Letter<E> extends Place<E> {
  private Object message; // null once it is gone; guarded by the queue
  private Object along; // likewise

  Letter(Object message, Object along) {
    super(null, false);
    this.message = message;
    this.along = along;
  }

  @Override
  E item(BiFunction<Object, Object, E> letters) {
    return letters.apply(message, along);
  }

  @Override
  void forget() {
    message = null;
    along = null;
  }
}
