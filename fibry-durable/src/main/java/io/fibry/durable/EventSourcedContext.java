package io.fibry.durable;

/**
 * The context of a handler that stores events.
 *
 * @param <S> state
 * @param <E> events
 * @param <M> messages
 */
public interface EventSourcedContext<S, E, M> extends DurableContext<M> {

  /**
   * Adds an event to this turn. It is stored with the turn, if the handler does not throw.
   *
   * @param event the event
   * @return the state after the event
   */
  S persist(E event);
}
