package io.fibry.durable;

import java.time.Instant;

/**
 * A stored message that was parked, because its handler threw, or because the process ended several
 * times while it handled the message.
 *
 * @param <M> messages
 * @param key of the actor
 * @param id of the message, unique among the messages for the actor
 * @param message the message
 * @param reason why the message was parked
 * @param parkedAt when the message was parked
 */
public record ParkedMessage<M>(String key, String id, M message, String reason, Instant parkedAt) {}
