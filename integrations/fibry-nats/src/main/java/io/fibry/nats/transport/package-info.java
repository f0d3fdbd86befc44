/**
 * The transports of clusters. {@link io.fibry.nats.transport.NatsTransport} has the messages, the
 * table and the work queues of a node, and {@link io.fibry.nats.transport.AskOnlyTransport} the
 * messages of a program that only asks. Not exported.
 */
package io.fibry.nats.transport;
