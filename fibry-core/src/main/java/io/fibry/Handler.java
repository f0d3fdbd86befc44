package io.fibry;

/**
 * User code for one message; may block, may throw. Written as a lambda or a method reference, in
 * one of the shapes below. It is called by one thread at a time, and sees what it wrote the time
 * before.
 *
 * @param <M> the message
 */
@FunctionalInterface
public interface Handler<M> {

  /**
   * Handles a message.
   *
   * @param message never null
   * @throws Exception what the failure policy decides about
   */
  void handle(M message) throws Exception;

  /**
   * One that uses its context.
   *
   * @param <M> the message
   */
  @FunctionalInterface
  interface InContext<M> {
    /**
     * Handles a message.
     *
     * @param message never null
     * @param context valid until this returns
     * @throws Exception what the failure policy decides about
     */
    void handle(M message, ActorContext<M> context) throws Exception;
  }

  /**
   * One that answers.
   *
   * @param <M> the message
   * @param <R> the answer
   */
  @FunctionalInterface
  interface Returning<M, R> {
    /**
     * Handles a message.
     *
     * @param message never null
     * @return the answer; never null
     * @throws Exception what the asker gets, and the failure policy decides about
     */
    R handle(M message) throws Exception;
  }

  /**
   * One that answers and uses its context.
   *
   * @param <M> the message
   * @param <R> the answer
   */
  @FunctionalInterface
  interface ReturningInContext<M, R> {
    /**
     * Handles a message.
     *
     * @param message never null
     * @param context valid until this returns
     * @return the answer; never null
     * @throws Exception what the asker gets, and the failure policy decides about
     */
    R handle(M message, ActorContext<M> context) throws Exception;
  }

  /**
   * One with a state.
   *
   * @param <S> the state
   * @param <M> the message
   */
  @FunctionalInterface
  interface Stateful<S, M> {
    /**
     * Handles a message.
     *
     * @param state the actor's own
     * @param message never null
     * @throws Exception what the failure policy decides about
     */
    void handle(S state, M message) throws Exception;
  }

  /**
   * One with a state that uses its context.
   *
   * @param <S> the state
   * @param <M> the message
   */
  @FunctionalInterface
  interface StatefulInContext<S, M> {
    /**
     * Handles a message.
     *
     * @param state the actor's own
     * @param message never null
     * @param context valid until this returns
     * @throws Exception what the failure policy decides about
     */
    void handle(S state, M message, ActorContext<M> context) throws Exception;
  }

  /**
   * One with a state that answers.
   *
   * @param <S> the state
   * @param <M> the message
   * @param <R> the answer
   */
  @FunctionalInterface
  interface StatefulReturning<S, M, R> {
    /**
     * Handles a message.
     *
     * @param state the actor's own
     * @param message never null
     * @return the answer; never null
     * @throws Exception what the asker gets, and the failure policy decides about
     */
    R handle(S state, M message) throws Exception;
  }

  /**
   * One with a state that answers and uses its context.
   *
   * @param <S> the state
   * @param <M> the message
   * @param <R> the answer
   */
  @FunctionalInterface
  interface StatefulReturningInContext<S, M, R> {
    /**
     * Handles a message.
     *
     * @param state the actor's own
     * @param message never null
     * @param context valid until this returns
     * @return the answer; never null
     * @throws Exception what the asker gets, and the failure policy decides about
     */
    R handle(S state, M message, ActorContext<M> context) throws Exception;
  }

  /**
   * Code around a handler.
   *
   * @param <M> the message
   */
  @FunctionalInterface
  interface Around<M> {
    /**
     * Runs before and after the handler. A request that {@code next} was not run for fails with
     * {@link NoReplyException}.
     *
     * @param message never null
     * @param next runs the handler, and throws what it throws
     * @throws Exception as if the handler had thrown it
     */
    void around(M message, Task next) throws Exception;
  }

  /** Code for no message at all. */
  @FunctionalInterface
  interface Task {
    /**
     * Runs it.
     *
     * @throws Exception what the failure policy decides about
     */
    void run() throws Exception;
  }
}
