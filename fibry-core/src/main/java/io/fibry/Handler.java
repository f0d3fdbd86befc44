package io.fibry;

/**
 * User code for one message, written as a lambda or method reference. It may block and throw: the
 * failure policy decides, and an asker gets the exception. One thread at a time calls it, and sees
 * what earlier calls wrote.
 *
 * @param <M> message
 */
@FunctionalInterface
public interface Handler<M> {

  /**
   * Handles a message.
   *
   * @param message never null
   * @throws Exception on failure
   */
  void handle(M message) throws Exception;

  /**
   * A handler with a context.
   *
   * @param <M> message
   */
  @FunctionalInterface
  interface WithContext<M> {
    /**
     * Handles a message.
     *
     * @param message never null
     * @param context the actor's
     * @throws Exception on failure
     */
    void handle(M message, ActorContext<M> context) throws Exception;
  }

  /**
   * A handler that answers.
   *
   * @param <M> message
   * @param <R> answer
   */
  @FunctionalInterface
  interface Returning<M, R> {
    /**
     * {@return the answer}
     *
     * @param message never null
     * @throws Exception on failure
     */
    R handle(M message) throws Exception;
  }

  /**
   * A handler with a context that answers.
   *
   * @param <M> message
   * @param <R> answer
   */
  @FunctionalInterface
  interface ReturningWithContext<M, R> {
    /**
     * {@return the answer}
     *
     * @param message never null
     * @param context the actor's
     * @throws Exception on failure
     */
    R handle(M message, ActorContext<M> context) throws Exception;
  }

  /**
   * A handler with a state.
   *
   * @param <S> state
   * @param <M> message
   */
  @FunctionalInterface
  interface Stateful<S, M> {
    /**
     * Handles a message.
     *
     * @param state the actor's
     * @param message never null
     * @throws Exception on failure
     */
    void handle(S state, M message) throws Exception;
  }

  /**
   * A handler with state and context.
   *
   * @param <S> state
   * @param <M> message
   */
  @FunctionalInterface
  interface StatefulWithContext<S, M> {
    /**
     * Handles a message.
     *
     * @param state the actor's
     * @param message never null
     * @param context the actor's
     * @throws Exception on failure
     */
    void handle(S state, M message, ActorContext<M> context) throws Exception;
  }

  /**
   * A handler with a state that answers.
   *
   * @param <S> state
   * @param <M> message
   * @param <R> answer
   */
  @FunctionalInterface
  interface StatefulReturning<S, M, R> {
    /**
     * {@return the answer}
     *
     * @param state the actor's
     * @param message never null
     * @throws Exception on failure
     */
    R handle(S state, M message) throws Exception;
  }

  /**
   * A handler with state and context that answers.
   *
   * @param <S> state
   * @param <M> message
   * @param <R> answer
   */
  @FunctionalInterface
  interface StatefulReturningWithContext<S, M, R> {
    /**
     * {@return the answer}
     *
     * @param state the actor's
     * @param message never null
     * @param context the actor's
     * @throws Exception on failure
     */
    R handle(S state, M message, ActorContext<M> context) throws Exception;
  }

  /**
   * Code around a handler.
   *
   * @param <M> message
   */
  @FunctionalInterface
  interface Interceptor<M> {
    /**
     * Runs around the handler. A request whose {@code next} was not run fails with
     * {@link NoReplyException}.
     *
     * @param message never null
     * @param next runs the handler, and throws what it throws
     * @throws Exception as the handler
     */
    void intercept(M message, Task next) throws Exception;
  }

  /** Code without a message. */
  @FunctionalInterface
  interface Task {
    /**
     * Runs it.
     *
     * @throws Exception on failure
     */
    void run() throws Exception;
  }
}
