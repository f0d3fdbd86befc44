package io.fibry.engine.queue;

import java.util.function.BiFunction;

/**
 * A place that is the envelope of its message, too: one object goes from the sender's processor to
 * the taker's, who makes an envelope of his own.
 *
 * @param <E> what waits
 */
public final class MessageEntry<E> extends Entry<E> {
  private Object message; // null once it is gone; guarded by the queue
  private Object baggage; // likewise

  private MessageEntry(Object message, Object baggage) {
    super(null, false);
    this.message = message;
    this.baggage = baggage;
  }

  /**
   * An entry for a message.
   *
   * @param <E> what waits
   * @param message what it holds
   * @param baggage what travels along; null: nothing
   * @return an entry, for queues that take such
   */
  public static <E> Entry<E> of(Object message, Object baggage) {
    return new MessageEntry<>(message, baggage);
  }

  @Override
  E item(BiFunction<Object, Object, E> toElement) {
    return toElement.apply(message, baggage);
  }

  @Override
  void forget() {
    message = null;
    baggage = null;
  }
}
