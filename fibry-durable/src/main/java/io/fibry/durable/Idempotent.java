package io.fibry.durable;

/**
 * A message with an id. An actor handles it once: when it comes again, also after a restart, it
 * gets the same answer, and nothing is done. A handler that threw has not handled it.
 *
 * <p>An actor remembers a limited number of answers, see {@link Durable.Builder#deduplicate}; a
 * message whose answer it has forgotten is new to it. Such a request is answered by {@code reply},
 * as only a value can be remembered.
 */
public interface Idempotent {

  /** {@return the id, of 1 to 512 bytes, which no other message to this actor has} */
  String idempotencyKey();
}
