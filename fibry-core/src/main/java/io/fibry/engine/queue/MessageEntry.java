package io.fibry.engine.queue;

import java.util.function.BiFunction;

/**
 * An entry with the message and its baggage. The sender makes only this object; the taker makes the
 * envelope.
 */
public final class MessageEntry<E> extends QueueEntry<E> {
  private Object message; // null once the entry has departed
  private Object baggage;

  private MessageEntry(Object message, Object baggage) {
    super(null, false);
    this.message = message;
    this.baggage = baggage;
  }

  public static <E> QueueEntry<E> of(Object message, Object baggage) {
    return new MessageEntry<>(message, baggage);
  }

  @Override
  E item(BiFunction<Object, Object, E> toElement) {
    return toElement.apply(message, baggage);
  }

  /** Returns the element, or null if the message has departed, perhaps during this call. */
  E itemOrNull(BiFunction<Object, Object, E> toElement) {
    Object currentMessage = message;
    return currentMessage == null ? null : toElement.apply(currentMessage, baggage);
  }

  boolean isCleared() {
    return message == null;
  }

  @Override
  void clear() {
    message = null;
    baggage = null;
  }
}
