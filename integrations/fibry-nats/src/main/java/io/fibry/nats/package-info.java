/** Nodes that find each other by servers of NATS: {@link io.fibry.nats.NatsNetwork}. */
package io.fibry.nats;
