/**
 * The turns and pending messages of durable actors, in a stream.
 * {@link io.fibry.nats.store.TurnWriter} stores the turns of one actor, and
 * {@link io.fibry.nats.store.StreamHistory} reads the turns of a kind. Not exported.
 */
package io.fibry.nats.store;
