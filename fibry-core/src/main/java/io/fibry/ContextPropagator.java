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
   * the message; by default it calls {@link #restore(Object)}. The library calls only this method.
   *
   * @param context the context that was captured for the message
   * @param actor the actor that handles the message; a pool, not its worker
   * @param message the message that is handled; for {@link Actor#sendMessages} one message of the
   * list
   * @return restores the previous context of the thread; closed on the same thread, after the
   * message was handled
   */
  default AutoCloseable restore(C context, Actor<?> actor, Object message) {
    return restore(context);
  }
}
