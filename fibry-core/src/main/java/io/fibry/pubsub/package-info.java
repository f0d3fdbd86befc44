/**
 * One tells many: {@link io.fibry.pubsub.Topic} hands out messages,
 * {@link io.fibry.pubsub.SharedValue} and {@link io.fibry.pubsub.SharedMap} tell what they hold.
 */
package io.fibry.pubsub;
