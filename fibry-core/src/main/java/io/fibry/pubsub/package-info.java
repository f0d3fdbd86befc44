/**
 * One tells many: {@link io.fibry.pubsub.Topic} hands out messages,
 * {@link io.fibry.pubsub.ObservableValue} and {@link io.fibry.pubsub.ObservableMap} tell what they
 * hold.
 */
package io.fibry.pubsub;
