package io.fibry.durable;

import java.time.Instant;

/**
 * A kept message whose handler threw, or ended the process again and again.
 *
 * @param <M> messages
 * @param key of the actor
 * @param id of the message, among those for the actor
 * @param message the message
 * @param reason why
 * @param parkedAt when it was parked
 */
public record ParkedMessage<M>(String key, String id, M message, String reason, Instant parkedAt) {}
