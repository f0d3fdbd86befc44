package io.fibry;

/**
 * Something of the sender's thread that travels with messages, such as the MDC: captured when one
 * is sent or its timer started, and set while it is handled. A request handled on its asker's
 * thread needs none. What a carrier throws is logged; the message is handled all the same. Must
 * be thread-safe and quick.
 *
 * @param <C> what it captures
 */
public interface Carrier<C> {

  /** {@return the MDC of slf4j, whatever its provider; always the same} */
  static Carrier<?> mdc() {
    return Mdc.CARRIER;
  }

  /** {@return what to set, which must not change} Called on the sender's thread. */
  C capture();

  /**
   * Called on the handler's thread, before the handler and the code around it.
   *
   * @param captured for this message
   * @return closed on the same thread after the message; puts back what was there
   */
  AutoCloseable set(C captured);
}
