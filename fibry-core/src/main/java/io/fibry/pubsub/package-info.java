/**
 * One tells many: {@link io.fibry.pubsub.Topic} hands each message to all who subscribed,
 * {@link io.fibry.pubsub.SharedValue} and {@link io.fibry.pubsub.SharedMap} tell their followers
 * what they hold now.
 */
package io.fibry.pubsub;
