package io.fibry.durable;

/**
 * What a handler that keeps events may do.
 *
 * @param <S> state
 * @param <E> events
 * @param <M> messages
 */
public interface EventContext<S, E, M> extends DurableContext<M> {

  /**
   * Adds an event to this turn. It is stored with the turn, if the handler does not throw.
   *
   * @param event what happened
   * @return the state after it
   */
  S persist(E event);
}
