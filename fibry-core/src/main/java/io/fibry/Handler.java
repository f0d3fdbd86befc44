package io.fibry;

/**
 * User code that handles one message, written as a lambda or method reference. A handler may block,
 * and may throw. If it throws, the failure policy of its actor applies, and the asker of a request
 * gets the exception. An actor calls its handler on one thread at a time. This thread sees all
 * writes of earlier calls. Several workers of a pool may call the pool's handler at the same time.
 *
 * @param <M> the type of the messages
 */
@FunctionalInterface
public interface Handler<M> {

  /**
   * Handles a message.
   *
   * @param message never null
   * @throws Exception if the handler fails
   */
  void handle(M message) throws Exception;

  /**
   * A handler with a context.
   *
   * @param <M> the type of the messages
   */
  @FunctionalInterface
  interface WithContext<M> {
    /**
     * Handles a message.
     *
     * @param message never null
     * @param context valid until this method returns
     * @throws Exception if the handler fails
     */
    void handle(M message, ActorContext<M> context) throws Exception;
  }

  /**
   * A handler that answers.
   *
   * @param <M> the type of the messages
   * @param <R> the type of the answers
   */
  @FunctionalInterface
  interface Returning<M, R> {
    /**
     * Handles a message.
     *
     * @param message never null
     * @return the answer, never null
     * @throws Exception if the handler fails
     */
    R handle(M message) throws Exception;
  }

  /**
   * A handler with a context that answers.
   *
   * @param <M> the type of the messages
   * @param <R> the type of the answers
   */
  @FunctionalInterface
  interface ReturningWithContext<M, R> {
    /**
     * Handles a message.
     *
     * @param message never null
     * @param context valid until this method returns
     * @return the answer, never null
     * @throws Exception if the handler fails
     */
    R handle(M message, ActorContext<M> context) throws Exception;
  }

  /**
   * A handler with a state.
   *
   * @param <S> the type of the state
   * @param <M> the type of the messages
   */
  @FunctionalInterface
  interface Stateful<S, M> {
    /**
     * Handles a message.
     *
     * @param state the state of the actor
     * @param message never null
     * @throws Exception if the handler fails
     */
    void handle(S state, M message) throws Exception;
  }

  /**
   * A handler with state and context.
   *
   * @param <S> the type of the state
   * @param <M> the type of the messages
   */
  @FunctionalInterface
  interface StatefulWithContext<S, M> {
    /**
     * Handles a message.
     *
     * @param state the state of the actor
     * @param message never null
     * @param context valid until this method returns
     * @throws Exception if the handler fails
     */
    void handle(S state, M message, ActorContext<M> context) throws Exception;
  }

  /**
   * A handler with a state that answers.
   *
   * @param <S> the type of the state
   * @param <M> the type of the messages
   * @param <R> the type of the answers
   */
  @FunctionalInterface
  interface StatefulReturning<S, M, R> {
    /**
     * Handles a message.
     *
     * @param state the state of the actor
     * @param message never null
     * @return the answer, never null
     * @throws Exception if the handler fails
     */
    R handle(S state, M message) throws Exception;
  }

  /**
   * A handler with state and context that answers.
   *
   * @param <S> the type of the state
   * @param <M> the type of the messages
   * @param <R> the type of the answers
   */
  @FunctionalInterface
  interface StatefulReturningWithContext<S, M, R> {
    /**
     * Handles a message.
     *
     * @param state the state of the actor
     * @param message never null
     * @param context valid until this method returns
     * @return the answer, never null
     * @throws Exception if the handler fails
     */
    R handle(S state, M message, ActorContext<M> context) throws Exception;
  }

  /**
   * Code that runs around the handling of each message.
   *
   * @param <M> the type of the messages
   */
  @FunctionalInterface
  interface Interceptor<M> {
    /**
     * Called instead of the handler. If this method does not run {@code next}, the message is not
     * handled, and a request fails with {@link NoReplyException}.
     *
     * @param message never null
     * @param next runs the handler, and throws the exception of the handler
     * @throws Exception counts as a failure of the handler
     */
    void intercept(M message, Task next) throws Exception;
  }

  /** Code that takes no argument and may throw. */
  @FunctionalInterface
  interface Task {
    /**
     * Runs the code.
     *
     * @throws Exception if the code fails
     */
    void run() throws Exception;
  }
}
