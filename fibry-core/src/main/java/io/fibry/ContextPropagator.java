package io.fibry;

/**
 * Something of the sender's thread that travels with messages, such as the MDC: captured when one
 * is sent or its timer started, and set while it is handled. A request handled on its asker's
 * thread needs none. What a carrier throws is logged; the message is handled all the same. Must be
 * thread-safe and quick.
 *
 * @param <C> the type of the context that it captures
 */
public interface ContextPropagator<C> {

  /** {@return a carrier of the MDC of slf4j, with any provider; always the same object} */
  static ContextPropagator<?> mdc() {
    return Mdc.CARRIER;
  }

  /**
   * {@return the context of this thread, as an object that does not change} Called on the sender's
   * thread.
   */
  C capture();

  /**
   * {@return the context of this thread, as an object that does not change} For a carrier that
   * looks at the message; by default the same as {@link #capture()}. The library calls only this
   * one: before it offers the message, and while it holds no lock.
   *
   * @param to is sent the message; a pool, not its worker
   * @param message the message that is sent: for a block the list, for a task the {@link Runnable}
   */
  default C capture(Actor<?> to, Object message) {
    return capture();
  }

  /**
   * Called on the handler's thread, before the handler and the code around it.
   *
   * @param captured for this message
   * @return closed on the same thread after the message; puts back what was there
   */
  AutoCloseable restore(C captured);

  /**
   * For a carrier that looks at the message; by default as {@link #restore(Object)}. The library
   * calls only this one.
   *
   * @param captured for this message
   * @param at handles the message; a pool, not its worker
   * @param message the message that is handled: for a block one of its messages
   * @return closed on the same thread after the message; puts back what was there
   */
  default AutoCloseable restore(C captured, Actor<?> at, Object message) {
    return restore(captured);
  }
}
