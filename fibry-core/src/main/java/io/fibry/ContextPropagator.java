package io.fibry;

/**
 * Passes a context of the sender's thread, such as the MDC, to the handler of a message. The
 * context is captured when the message is sent or its timer is started, and restored while the
 * message is handled. The context is not captured for a request that is handled on the asker's own
 * thread.
 *
 * <p>A propagator must be thread-safe and quick. If it throws, the exception is logged, and the
 * message is still handled.
 *
 * @param <C> the type of the captured context
 */
public interface ContextPropagator<C> {

  /** {@return the propagator of the MDC of slf4j, which works with any slf4j provider} */
  static ContextPropagator<?> mdc() {
    return Mdc.INSTANCE;
  }

  /**
   * {@return the context of the current thread, as an object that does not change} Called on the
   * sender's thread.
   */
  C capture();

  /**
   * {@return the context of the current thread, as an object that does not change} Override this
   * method if the context depends on the message; by default it calls {@link #capture()}. The
   * library calls only this method, before it offers the message to the mailbox, and without a
   * lock.
   *
   * @param recipient the actor that the message is sent to; a pool, not its worker
   * @param message the message; in {@link Actor#sendMessages} the list of messages, in
   * {@link Actor#execute} the {@link Runnable}
   */
  default C capture(Actor<?> recipient, Object message) {
    return capture();
  }

  /**
   * The handling of a message, as a result of {@link #restore(Object, Actor, Object)}. A propagator
   * returns it to learn whether the handler failed, for example to mark the span of a trace.
   * {@snippet class="io.fibry.JavadocSnippetsTest" region="handling"}
   */
  interface Handling extends AutoCloseable {

    /**
     * Called before {@link #close()} if the handler threw an exception, after the last retry of the
     * failure policy. Called on the handler's thread, when the policy has decided. A redelivery of
     * the message is another handling.
     *
     * @param failure the exception of the last attempt
     */
    void failed(Throwable failure);

    /** Restores the previous context of the thread. */
    @Override
    void close();
  }

  /**
   * Sets a captured context on the current thread. Called on the handler's thread, before the
   * handler and its interceptors.
   *
   * @param context the context that was captured for the message
   * @return restores the previous context of the thread; closed on the same thread, after the
   * message was handled
   */
  AutoCloseable restore(C context);

  /**
   * Sets a captured context on the current thread. Override this method if the context depends on
   * the message; by default it calls {@link #restore(Object)}. For a handler, the library calls
   * only this method.
   *
   * @param context the context that was captured for the message
   * @param actor the actor that handles the message; a pool, not its worker
   * @param message the message that is handled; for {@link Actor#sendMessages} one message of the
   * list
   * @return restores the previous context of the thread; closed on the same thread, after the
   * message was handled. A {@link Handling} also learns of the handler's failure
   */
  default AutoCloseable restore(C context, Actor<?> actor, Object message) {
    return restore(context);
  }

  /**
   * Sets a captured context on the current thread while the library sends a message for its sender.
   * The message comes from another node, from a store, or from the timer of an entity. The
   * propagators of the actor then capture the context. Override this method if {@code restore} does
   * more than to set a context, for example if it measures the handling; by default it calls
   * {@link #restore(Object, Actor, Object)}.
   *
   * @param context the context that was captured for the message, or was read from texts
   * @param recipient the actor that the message is sent to
   * @param message the message
   * @return restores the previous context of the thread; closed on the same thread, when the
   * message was sent
   */
  default AutoCloseable restoreForSend(C context, Actor<?> recipient, Object message) {
    return restore(context, recipient, message);
  }
}
