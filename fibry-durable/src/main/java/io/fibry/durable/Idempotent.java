package io.fibry.durable;

/**
 * A message with an id, which an actor handles once. If the message is sent again, also after a
 * restart, its sender gets the same answer, and the handler is not called. If the handler threw,
 * the message counts as not handled.
 *
 * <p>An actor remembers a limited number of answers, see {@link Durable.Builder#deduplicate}. When
 * it has forgotten an answer, it handles the message again. Use {@code reply} for the answer to an
 * idempotent request, because only a value can be remembered.
 *
 * <p>Only ids are compared, and not the types of the messages: an id belongs to one message of one
 * type. Another message with a known id gets the answer to the first message. If this answer cannot
 * be decoded as an answer to a request of the second type, the request fails with an
 * {@link IllegalArgumentException}, and has no effect. Otherwise its asker gets an answer that
 * belongs to the other request. If clients may confuse ids, begin the id with the type of the
 * message, or put the fields that identify the message into the answer, and let its asker compare
 * them.
 */
public interface Idempotent {

  /** {@return the id, of 1 to 512 bytes, which no other message to this actor has} */
  String idempotencyKey();
}
