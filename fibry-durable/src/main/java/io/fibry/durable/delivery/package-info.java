/**
 * Addresses of actors, and the delivery of messages. An address, which is a
 * {@link io.fibry.durable.delivery.DurableActor}, stores a message if its kind stores messages.
 * {@link io.fibry.durable.delivery.PendingDelivery} delivers the messages that wait at the store.
 * Not exported.
 */
package io.fibry.durable.delivery;
