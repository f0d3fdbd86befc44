/** One tells many: {@link io.fibry.pubsub.Topic} hands each message to all who subscribed. */
package io.fibry.pubsub;
